package org.cloister.ipsec.vici;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;

/**
 * A private key that stays at its place, such as in locked memory, and is copied only into the packet for charon. That
 * packet is native memory, which is zeroed as soon as the socket has written it or failed.
 */
public interface PrivateKeySource {
    /** Returns the number of bytes that {@link #writeTo} writes. */
    int length();

    /** @param target direct, with {@link #length} bytes of room; must not be kept */
    void writeTo(ByteBuffer target);

    /** Returns a {@code load-key} command, see {@link #erase}. */
    static ByteBuf loadKey(PrivateKeySource key) {
        String name = "load-key";
        ViciMessage type = ViciMessage.empty().with("type", "any");
        // The buffer has exactly the necessary size: one that grew would leave a copy behind.
        int head = ViciPacket.LENGTH_BYTES + 2 + name.length() + size(type) + 4 + "data".length();
        ByteBuf out = Unpooled.directBuffer(head + key.length(), head + key.length());
        boolean filled = false;
        try {
            fill(out, head, key, name, type);
            filled = true;
            return out;
        } finally {
            if (!filled) {
                // No part of a key is left behind, even if the implementation of the source fails.
                erase(out);
            }
        }
    }

    private static void fill(ByteBuf out, int head, PrivateKeySource key, String name, ViciMessage type) {
        out.writeInt(head + key.length() - ViciPacket.LENGTH_BYTES).writeByte(ViciPacket.CMD_REQUEST);
        ViciMessageCodec.writeName(name, out);
        ViciMessageCodec.write(type, out);
        ViciMessageCodec.writeValueStart("data", key.length(), out);
        ByteBuffer room = out.nioBuffer(out.writerIndex(), key.length());
        key.writeTo(room);
        if (room.hasRemaining()) {
            throw new IllegalArgumentException(
                    "private key: want " + key.length() + " bytes, have " + room.remaining() + " fewer");
        }
        out.writerIndex(out.writerIndex() + key.length());
    }

    /** Zeroes and releases a packet. */
    static void erase(ByteBuf packet) {
        packet.setZero(0, packet.capacity());
        packet.release();
    }

    private static int size(ViciMessage message) {
        ByteBuf out = Unpooled.buffer();
        ViciMessageCodec.write(message, out);
        return out.readableBytes();
    }
}
