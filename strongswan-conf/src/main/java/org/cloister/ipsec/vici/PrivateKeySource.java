package org.cloister.ipsec.vici;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;

/**
 * A private key that stays where it is, such as in locked memory, and is copied only into the packet that charon gets.
 * That packet is native memory, overwritten with zeroes as soon as the socket has taken it or failed.
 */
public interface PrivateKeySource {
    /** Bytes that {@link #writeTo} puts. */
    int length();

    /** @param target direct, with {@link #length} bytes of room; must not be kept */
    void writeTo(ByteBuffer target);

    /** A {@code load-key} command, see {@link #erase}. */
    static ByteBuf loadKey(PrivateKeySource key) {
        String name = "load-key";
        ViciMessage type = ViciMessage.empty().with("type", "any");
        // Exactly as much as is needed: a buffer that grew would leave a copy behind.
        int head = ViciPacket.LENGTH_BYTES + 2 + name.length() + size(type) + 4 + "data".length();
        ByteBuf out = Unpooled.directBuffer(head + key.length(), head + key.length());
        boolean filled = false;
        try {
            fill(out, head, key, name, type);
            filled = true;
            return out;
        } finally {
            if (!filled) {
                // Whatever somebody's implementation does, no part of a key is left behind.
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

    /** Zeroes a packet and lets it go. */
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
