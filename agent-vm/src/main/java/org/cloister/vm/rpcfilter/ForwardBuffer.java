package org.cloister.vm.rpcfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Buffer for bytes from one socket to the other; reads no more than it can hold. */
final class ForwardBuffer {
    private static final int BYTES = 8 << 10;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
    private long remaining;
    private boolean ended;

    /**
     * Creates an empty buffer.
     *
     * @param maxBytes bytes to be read in all
     */
    ForwardBuffer(long maxBytes) {
        this.remaining = maxBytes;
    }

    /** Adds bytes that were read before. */
    void put(ByteBuffer bytes) {
        buffer.put(bytes);
    }

    /**
     * Reads what is available and fits.
     *
     * @return whether bytes arrived, or the end of the stream
     */
    boolean read(SocketChannel from) throws IOException {
        buffer.limit((int) Math.min(buffer.capacity(), buffer.position() + remaining));
        int read = from.read(buffer);
        buffer.limit(buffer.capacity());
        if (read < 0) {
            ended = true;
        } else {
            remaining -= read;
        }
        return read != 0;
    }

    /**
     * Writes what the socket accepts.
     *
     * @return whether any byte was written
     */
    boolean write(SocketChannel to) throws IOException {
        buffer.flip();
        int written = to.write(buffer);
        buffer.compact();
        return written > 0;
    }

    boolean wantsBytes() {
        return !ended && remaining > 0 && buffer.hasRemaining();
    }

    /** Returns whether the buffer holds unwritten bytes. */
    boolean hasBytes() {
        return buffer.position() > 0;
    }

    /** Returns whether all permitted bytes were read. */
    boolean isComplete() {
        return remaining == 0;
    }

    /** Returns whether the peer has closed its output. */
    boolean isEnded() {
        return ended;
    }
}
