package org.cloister.host.scratch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file system of its own, of a size that is soon full. */
public final class SmallFileSystem implements AutoCloseable {
    private final Path folder;

    private SmallFileSystem(Path folder) {
        this.folder = folder;
    }

    /** In memory. */
    public static SmallFileSystem tmpfs(Path folder, int mib) throws IOException {
        return mount(folder, "-t", "tmpfs", "-o", "size=" + mib + "m", "tmpfs");
    }

    /** On a file, whose holes come back when blocks are discarded. */
    static SmallFileSystem ext4(Path folder, Path image, int mib, String options) throws IOException {
        requireRoot();
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength((long) mib << 20);
        }
        run("mkfs.ext4", "-q", "-F", "-m", "0", image.toString());
        return mount(folder, "-t", "ext4", "-o", "loop," + options, image.toString());
    }

    private static SmallFileSystem mount(Path folder, String... what) throws IOException {
        requireRoot();
        Files.createDirectory(folder);
        String[] command = new String[what.length + 2];
        command[0] = "mount";
        System.arraycopy(what, 0, command, 1, what.length);
        command[what.length + 1] = folder.toString();
        run(command);
        return new SmallFileSystem(folder);
    }

    private static void requireRoot() {
        assumeTrue("root".equals(System.getProperty("user.name")), "mounting needs root");
    }

    public Path folder() {
        return folder;
    }

    /** With another's file, to the last byte. */
    public Path fill() throws IOException {
        Path other = folder.resolve("other");
        byte[] block = new byte[4096];
        try {
            while (true) {
                Files.write(other, block, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("No space left on device");
            return other;
        }
    }

    @Override
    public void close() throws IOException {
        run("umount", folder.toString());
        Files.delete(folder);
    }

    private static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.onExit().join().exitValue())
                .as(String.join(" ", command) + ": " + output)
                .isZero();
    }
}
