package org.cloister.ipsec.vici;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.cloister.ipsec.vici.IpsecException.Malformed;

/** A packet of the vici protocol, preceded by its length of 32 bits. See "Packet layer" of strongSwan's description. */
sealed interface ViciPacket {
    int CMD_REQUEST = 0;
    int CMD_RESPONSE = 1;
    int CMD_UNKNOWN = 2;
    int EVENT_REGISTER = 3;
    int EVENT_UNREGISTER = 4;
    int EVENT_CONFIRM = 5;
    int EVENT_UNKNOWN = 6;
    int EVENT = 7;

    int LENGTH_BYTES = 4;

    /** A command's result. */
    record Response(ViciMessage message) implements ViciPacket {}

    /** charon has no such command. */
    record UnknownCommand() implements ViciPacket {}

    /** charon accepted a registration. */
    record Confirmed() implements ViciPacket {}

    /** charon has no such event. */
    record UnknownEvent() implements ViciPacket {}

    /** An event, or one piece of a streamed answer. */
    record Event(String name, ViciMessage message) implements ViciPacket {}

    /** A packet that only clients send. */
    record FromClient(int type, String name, ViciMessage message) implements ViciPacket {}

    /** @param in a whole packet without its length */
    static ViciPacket read(ByteBuf in) throws Malformed {
        if (!in.isReadable()) {
            throw new Malformed("vici packet", "a type", "no bytes");
        }
        int type = in.readUnsignedByte();
        return switch (type) {
            case CMD_RESPONSE -> new Response(ViciMessageCodec.read(in));
            case CMD_UNKNOWN -> alone(new UnknownCommand(), in);
            case EVENT_CONFIRM -> alone(new Confirmed(), in);
            case EVENT_UNKNOWN -> alone(new UnknownEvent(), in);
            case EVENT -> new Event(ViciMessageCodec.readName(in), ViciMessageCodec.read(in));
            case CMD_REQUEST -> new FromClient(type, ViciMessageCodec.readName(in), ViciMessageCodec.read(in));
            case EVENT_REGISTER, EVENT_UNREGISTER ->
                alone(new FromClient(type, ViciMessageCodec.readName(in), ViciMessage.empty()), in);
            default -> throw new Malformed("vici packet", "a type from 0 to 7", Integer.toString(type));
        };
    }

    /** Returns a command with its length. */
    static ByteBuf request(String command, ViciMessage message) {
        ByteBuf out = start(CMD_REQUEST, command);
        ViciMessageCodec.write(message, out);
        return finished(out);
    }

    static ByteBuf register(String event) {
        return finished(start(EVENT_REGISTER, event));
    }

    private static ByteBuf start(int type, String name) {
        ByteBuf out = Unpooled.buffer();
        out.writeInt(0).writeByte(type);
        ViciMessageCodec.writeName(name, out);
        return out;
    }

    private static ByteBuf finished(ByteBuf out) {
        int length = out.readableBytes() - LENGTH_BYTES;
        if (length > ViciMessageCodec.MAX_BYTES) {
            throw new IllegalArgumentException(
                    "vici packet: want at most " + ViciMessageCodec.MAX_BYTES + " bytes, have " + length);
        }
        return out.setInt(0, length);
    }

    private static ViciPacket alone(ViciPacket packet, ByteBuf in) throws Malformed {
        if (in.isReadable()) {
            throw new Malformed("vici packet", "an end", in.readableBytes() + " bytes more");
        }
        return packet;
    }
}
