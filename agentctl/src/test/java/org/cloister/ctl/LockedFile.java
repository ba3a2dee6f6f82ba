package org.cloister.ctl;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A file that another process has locked, so that whoever wants the lock waits where a test wants it to. */
final class LockedFile implements AutoCloseable {
    private final Path file;
    private final Process holder;

    private LockedFile(Path file, Process holder) {
        this.file = file;
        this.holder = holder;
    }

    /** Returns once it is locked. */
    static LockedFile lock(Path file) throws IOException {
        Process holder = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockedFile.class.getName(),
                        file.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (holder.getInputStream().read() != '!') {
            throw new IOException(file + ": not locked");
        }
        return new LockedFile(file, holder);
    }

    /** Program: {@code FILE}. Locks it, says so, and ends with its input. */
    @SuppressWarnings("try") // what is locked is only there to be let go
    public static void main(String[] args) throws IOException {
        try (FileChannel channel =
                        FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                var fileLock = channel.lock()) {
            System.out.print('!');
            System.out.flush();
            while (System.in.read() >= 0) {
                // Whoever started this closes its end.
            }
        }
    }

    /** Until this process waits for the lock, as the kernel says. */
    void awaitWaiting() throws IOException, InterruptedException {
        String inode = ":" + Files.getAttribute(file, "unix:ino") + " ";
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (Files.readAllLines(Path.of("/proc/locks")).stream()
                .noneMatch(line -> line.contains("-> POSIX") && line.contains(inode))) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError(file + ": nobody waits for its lock");
            }
            Thread.sleep(20);
        }
    }

    /** Whoever waits has it now. */
    void release() throws IOException {
        holder.getOutputStream().close();
        holder.onExit().join();
    }

    @Override
    public void close() throws IOException {
        release();
    }
}
