package org.cloister.vm.rpcfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Bytes on their way from one socket to the other, of which no more are read than the buffer holds. */
final class ForwardBuffer {
    private static final int BYTES = 8 << 10;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
    private long left;
    private boolean ended;

    /** @param most to be read in all */
    ForwardBuffer(long most) {
        this.left = most;
    }

    /** What was read before. */
    void put(ByteBuffer bytes) {
        buffer.put(bytes);
    }

    /** @return whether bytes came, or the end */
    boolean read(SocketChannel from) throws IOException {
        buffer.limit((int) Math.min(buffer.capacity(), buffer.position() + left));
        int read = from.read(buffer);
        buffer.limit(buffer.capacity());
        if (read < 0) {
            ended = true;
        } else {
            left -= read;
        }
        return read != 0;
    }

    /** @return whether bytes went */
    boolean write(SocketChannel to) throws IOException {
        buffer.flip();
        int written = to.write(buffer);
        buffer.compact();
        return written > 0;
    }

    boolean wantsBytes() {
        return !ended && left > 0 && buffer.hasRemaining();
    }

    /** Whether something is there that was not written yet. */
    boolean hasBytes() {
        return buffer.position() > 0;
    }

    /** Whether all that may be read was read. */
    boolean isComplete() {
        return left == 0;
    }

    /** Whether the other end said that no more comes. */
    boolean isEnded() {
        return ended;
    }
}
