package org.cloister.transport.channel;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.cloister.protocol.link.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/** Two threads that read and write one device. Closing the device ends both, even while they are blocked. */
final class DeviceThreads {
    static final int PIECE_BYTES = 65536;
    /** Longest time for which a blocked device delays its closing. */
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

    private final RandomAccessFile file;
    private final FileChannel in;
    private final FileChannel out;
    private final String name;
    private final Queue<byte[]> unread = new ArrayDeque<>();
    private final ByteBuffer batch = ByteBuffer.allocateDirect(PIECE_BYTES);
    private int unreadBytes;
    private boolean toWrite;
    private boolean writing;
    private boolean ended;
    private boolean closed;

    private DeviceThreads(RandomAccessFile file, String name) throws IOException {
        this.file = file;
        this.name = name;
        // The device permits one open descriptor; a reading channel blocks writes, so each direction has its own.
        this.in = new FileInputStream(file.getFD()).getChannel();
        this.out = new FileOutputStream(file.getFD()).getChannel();
    }

    /**
     * Opens a device.
     *
     * @throws IOException if the device does not exist, is no character device, or another process has opened it
     */
    static DeviceThreads open(Path device) throws IOException {
        if (!Files.readAttributes(device, BasicFileAttributes.class).isOther()) {
            throw new IOException(device + ": want a character device, have another kind of file");
        }
        return new DeviceThreads(new RandomAccessFile(device.toFile(), "rw"), String.valueOf(device.getFileName()));
    }

    /**
     * Starts both threads.
     *
     * @param changed called when there is more to {@link #poll}, or no more will come
     * @param written called with the number of written bytes of the batch; negative when the device accepts no more
     */
    void start(Runnable changed, IntConsumer written) {
        thread("reader", () -> readAll(changed));
        thread("writer", () -> writeAll(written));
    }

    /** Task that blocks until its device is closed. */
    @FunctionalInterface
    private interface Work {
        void run() throws InterruptedException;
    }

    private void thread(String task, Work work) {
        Runnable whole = () -> {
            try {
                work.run();
            } catch (InterruptedException e) {
                // No code here interrupts this thread, so the interrupt means that the program ends.
                close();
            }
        };
        Thread thread = new Thread(whole, name + " " + task);
        thread.setDaemon(true);
        thread.start();
    }

    private void readAll(Runnable changed) throws InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE_BYTES);
        try {
            while (awaitRoom() && in.read(buffer.clear()) >= 0) {
                byte[] piece = new byte[buffer.flip().remaining()];
                buffer.get(piece);
                add(piece);
                changed.run();
            }
        } catch (IOException e) {
            // An error counts as an end of file: the opener opens the device again.
        }
        stop();
        changed.run();
    }

    private synchronized boolean awaitRoom() throws InterruptedException {
        while (unreadBytes > ProtocolLimits.CHANNEL_UNREAD_BYTES - PIECE_BYTES && !closed) {
            wait();
        }
        return !closed;
    }

    private synchronized void add(byte[] piece) {
        unread.add(piece);
        unreadBytes += piece.length;
    }

    private synchronized void stop() {
        ended = true;
    }

    /** Returns the next bytes that were read, or null if there are none. */
    synchronized byte @Nullable [] poll() {
        byte[] piece = unread.poll();
        if (piece != null) {
            unreadBytes -= piece.length;
            notifyAll();
        }
        return piece;
    }

    /** Returns whether the device has ended and all bytes were polled. */
    synchronized boolean ended() {
        return ended && unread.isEmpty();
    }

    synchronized int unreadBytes() {
        return unreadBytes;
    }

    /** Returns the buffer for the next write, to be filled between two writes. */
    ByteBuffer batch() {
        return batch.clear();
    }

    synchronized void write() {
        batch.flip();
        toWrite = true;
        writing = true;
        notifyAll();
    }

    private void writeAll(IntConsumer written) throws InterruptedException {
        while (awaitBatch()) {
            int bytes = batch.remaining();
            try {
                while (batch.hasRemaining()) {
                    out.write(batch);
                }
            } catch (IOException e) {
                bytes = -1;
            }
            written();
            written.accept(bytes);
        }
    }

    private synchronized void written() {
        writing = false;
        notifyAll();
    }

    /** Closes the device when the current write is done, or after {@link #CLOSE_LIMIT}; not on an event loop. */
    void finish() {
        long endNs = System.nanoTime() + CLOSE_LIMIT.toNanos();
        synchronized (this) {
            try {
                for (long left = CLOSE_LIMIT.toMillis(); writing && !closed && left > 0; ) {
                    wait(left);
                    left = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        close();
    }

    private synchronized boolean awaitBatch() throws InterruptedException {
        while (!toWrite && !closed) {
            wait();
        }
        toWrite = false;
        return !closed;
    }

    synchronized boolean isOpen() {
        return !closed;
    }

    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            notifyAll();
        }
        try {
            // Closes both channels, which wakes threads that are blocked in them.
            file.close();
        } catch (IOException e) {
            throw new IllegalStateException(name + ": closing", e);
        }
    }
}
