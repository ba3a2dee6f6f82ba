package org.cloister.lab.host;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;

/**
 * Reads a guest's serial console: records the time of the first byte, and drains the pipe so that the guest never
 * blocks on it.
 */
final class Console implements AutoCloseable {
    private static final int PIECE = 1 << 12;

    private final Path fifo;
    private final RandomAccessFile pipe;
    private final CompletableFuture<Long> firstNs = new CompletableFuture<>();
    private volatile boolean closed;

    private Console(Path fifo, RandomAccessFile pipe) {
        this.fifo = fifo;
        this.pipe = pipe;
    }

    /** @param fifo is created, and deleted by {@link #close} */
    static Console at(Path fifo) throws IOException {
        Files.deleteIfExists(fifo);
        LabCommand.of("mkfifo", fifo.toString()).succeed();
        // Opened for reading and writing: the open does not block, and the writer's end of file does not end the
        // reader.
        Console console = new Console(fifo, new RandomAccessFile(fifo.toFile(), "rw"));
        Thread reader = new Thread(console::read, "console");
        reader.setDaemon(true);
        reader.start();
        return console;
    }

    Path path() {
        return fifo;
    }

    /** Returns the time of the first byte, by {@link System#nanoTime}. */
    long firstNs(Duration limit) throws IOException {
        try {
            return firstNs.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new LabException(
                    "not within " + limit.toSeconds() + " s: a guest's first byte in " + fifo,
                    "read libvirt's log of the domain",
                    e);
        } catch (ExecutionException e) {
            throw new IOException(fifo + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        }
    }

    private void read() {
        byte[] piece = new byte[PIECE];
        try (pipe) {
            while (!closed && pipe.read(piece) > 0) {
                firstNs.complete(System.nanoTime());
            }
        } catch (IOException e) {
            firstNs.completeExceptionally(e);
        }
    }

    /** Writes a byte, because a blocked read of a pipe ends only with data. */
    @Override
    public void close() throws IOException {
        closed = true;
        pipe.write(0);
        Files.deleteIfExists(fifo);
    }
}
