package org.cloister.ovs.openflow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.cloister.ovs.io.OvsException.Malformed;

/**
 * Encodes and decodes messages of OpenFlow 1.4.
 *
 * <pre>
 *  0         8         16                  32                  64
 * +---------+---------+-------------------+-------------------+------
 * | version |  type   | length, all of it |        xid        | body
 * +---------+---------+-------------------+-------------------+------
 * </pre>
 */
final class OpenFlowCodec {
    static final int VERSION = 5;
    static final int HEADER = 8;
    private static final int MAX_BYTES = 0xffff;

    static final int HELLO = 0;
    static final int ERROR = 1;
    static final int ECHO_REQUEST = 2;
    static final int ECHO_REPLY = 3;
    static final int SET_CONFIG = 9;
    static final int PORT_STATUS = 12;
    static final int FLOW_MOD = 14;
    static final int MULTIPART_REQUEST = 18;
    static final int MULTIPART_REPLY = 19;
    static final int BARRIER_REQUEST = 20;
    static final int BARRIER_REPLY = 21;
    static final int METER_MOD = 29;
    static final int BUNDLE_CONTROL = 33;
    static final int BUNDLE_ADD = 34;

    static final int FLOWS = 1;
    static final int METERS = 10;
    static final int PORTS = 13;

    static final int BUNDLE_OPEN = 0;
    static final int BUNDLE_COMMIT = 4;
    static final int BUNDLE_COMMITTED = 5;
    static final int BUNDLE_DISCARD = 6;
    private static final int ATOMIC_AND_ORDERED = 3;

    private static final int ADD = 0;
    private static final int MODIFY_METER = 1;
    private static final int DELETE_METER = 2;
    private static final int DELETE_STRICT = 4;
    private static final int ANY = 0xffffffff;
    private static final int KBPS_AND_BURST = 5;
    private static final int DROP_BAND = 1;
    private static final int PORT_NAME = 16;
    private static final int FLOW_FIXED = 48;
    private static final int PORT_FIXED = 40;
    private static final int PORT_DELETED = 1;
    /** A value other than 0 makes Open vSwitch send notifications to a service connection. */
    private static final int MISS_SEND_LENGTH = 128;

    private OpenFlowCodec() {}

    /** Splits a stream into messages; the length is 16 bits wide, so no other limit is necessary. */
    static ChannelHandler frames() {
        return new LengthFieldBasedFrameDecoder(MAX_BYTES, 2, 2, -4, 0);
    }

    /** Offers this version only: the bitmap keeps a newer switch from choosing its own. */
    static ByteBuf hello(int xid) {
        ByteBuf out = start(HELLO, xid);
        out.writeShort(1).writeShort(8).writeInt(1 << VERSION);
        return finish(out);
    }

    static ByteBuf message(int type, int xid, ImmutableBytes body) {
        ByteBuf out = start(type, xid);
        out.writeBytes(body.array());
        return finish(out);
    }

    static ByteBuf empty(int type, int xid) {
        return finish(start(type, xid));
    }

    /** Requests notifications of ports as they are added and removed. */
    static ByteBuf listen(int xid) {
        ByteBuf out = start(SET_CONFIG, xid);
        out.writeShort(0).writeShort(MISS_SEND_LENGTH);
        return finish(out);
    }

    static ByteBuf multipart(int xid, int kind) {
        ByteBuf out = start(MULTIPART_REQUEST, xid);
        out.writeShort(kind).writeShort(0).writeZero(4);
        if (kind == FLOWS) {
            out.writeByte(0xff).writeZero(3).writeInt(ANY).writeInt(ANY).writeZero(4);
            out.writeLong(0).writeLong(0);
            FlowMatch.ANY.write(out);
        } else if (kind == METERS) {
            out.writeInt(ANY).writeZero(4);
        }
        return finish(out);
    }

    static ByteBuf bundle(int xid, int bundle, int kind) {
        ByteBuf out = start(BUNDLE_CONTROL, xid);
        out.writeInt(bundle).writeShort(kind).writeShort(ATOMIC_AND_ORDERED);
        return finish(out);
    }

    /** Wraps a message in a bundle. The message inside has the xid of the one around it. */
    static ByteBuf inBundle(int xid, int bundle, ByteBuf message) {
        ByteBuf out = start(BUNDLE_ADD, xid);
        out.writeInt(bundle).writeZero(2).writeShort(ATOMIC_AND_ORDERED).writeBytes(message);
        message.release();
        return finish(out);
    }

    static ByteBuf add(int xid, FlowEntry flow) {
        return flow(xid, flow.key(), flow.cookie(), ADD, flow.instructions());
    }

    static ByteBuf delete(int xid, FlowEntry.Key key) {
        return flow(xid, key, 0, DELETE_STRICT, FlowInstructions.DROP);
    }

    private static ByteBuf flow(int xid, FlowEntry.Key key, long cookie, int command, FlowInstructions instructions) {
        ByteBuf out = start(FLOW_MOD, xid);
        out.writeLong(cookie).writeLong(0).writeByte(key.table()).writeByte(command);
        out.writeZero(4).writeShort(key.priority());
        // No buffered packet, any port and group.
        out.writeInt(ANY).writeInt(ANY).writeInt(ANY).writeZero(4);
        key.match().write(out);
        instructions.write(out);
        return finish(out);
    }

    static ByteBuf meter(int xid, FlowMeter meter, boolean exists) {
        ByteBuf out = start(METER_MOD, xid);
        out.writeShort(exists ? MODIFY_METER : ADD).writeShort(KBPS_AND_BURST).writeInt(meter.id());
        out.writeShort(DROP_BAND).writeShort(16).writeInt(meter.kilobitsPerSecond());
        out.writeInt(meter.burst()).writeZero(4);
        return finish(out);
    }

    static ByteBuf deleteMeter(int xid, int id) {
        ByteBuf out = start(METER_MOD, xid);
        out.writeShort(DELETE_METER).writeShort(0).writeInt(id);
        return finish(out);
    }

    /** @param in the entries of one part of a multipart reply */
    static List<FlowStats> readFlows(ByteBuf in) throws Malformed {
        List<FlowStats> flows = new ArrayList<>();
        while (in.isReadable()) {
            ByteBuf entry = entry(in, 0, FLOW_FIXED + 8, "flow");
            entry.skipBytes(2);
            int table = entry.readUnsignedByte();
            entry.skipBytes(9);
            int priority = entry.readUnsignedShort();
            entry.skipBytes(10);
            long cookie = entry.readLong();
            long packets = entry.readLong();
            entry.skipBytes(8);
            FlowMatch match = FlowMatch.read(entry);
            byte[] instructions = new byte[entry.readableBytes()];
            entry.readBytes(instructions);
            flows.add(new FlowStats(
                    FlowEntry.of(
                            table, priority, match, cookie, new FlowInstructions(new ImmutableBytes(instructions))),
                    packets));
        }
        return flows;
    }

    static Map<String, Integer> readPorts(ByteBuf in) throws Malformed {
        Map<String, Integer> ports = new HashMap<>();
        while (in.isReadable()) {
            PortStatus port = readPort(in, false);
            ports.put(port.device(), port.number());
        }
        return ports;
    }

    static PortStatus readPortStatus(ByteBuf in) throws Malformed {
        require(in, 8, "port status");
        int reason = in.readUnsignedByte();
        in.skipBytes(7);
        return readPort(in, reason == PORT_DELETED);
    }

    private static PortStatus readPort(ByteBuf in, boolean gone) throws Malformed {
        ByteBuf entry = entry(in, 4, PORT_FIXED, "port");
        int number = entry.readInt();
        entry.skipBytes(12);
        byte[] name = new byte[PORT_NAME];
        entry.readBytes(name);
        int length = 0;
        while (length < PORT_NAME && name[length] != 0) {
            length++;
        }
        return new PortStatus(new String(name, 0, length, StandardCharsets.UTF_8), number, gone);
    }

    /** Reads meters. A meter of another kind than ours is reported with rate 0, so that it differs from any of ours. */
    static List<FlowMeter> readMeters(ByteBuf in) throws Malformed {
        List<FlowMeter> meters = new ArrayList<>();
        while (in.isReadable()) {
            ByteBuf entry = entry(in, 0, 8, "meter");
            entry.skipBytes(2);
            int flags = entry.readUnsignedShort();
            int id = entry.readInt();
            boolean ours = (flags & KBPS_AND_BURST) == KBPS_AND_BURST
                    && entry.readableBytes() == 16
                    && entry.readUnsignedShort() == DROP_BAND;
            if (ours) {
                entry.skipBytes(2);
                meters.add(new FlowMeter(id, entry.readInt(), entry.readInt()));
            } else {
                meters.add(new FlowMeter(id, 0, 0));
            }
        }
        return meters;
    }

    static void require(ByteBuf in, int bytes, String what) throws Malformed {
        if (in.readableBytes() < bytes) {
            throw new Malformed("OpenFlow " + what, bytes + " bytes", in.readableBytes() + " bytes");
        }
    }

    static void skip(ByteBuf in, int bytes, String what) throws Malformed {
        require(in, bytes, what);
        in.skipBytes(bytes);
    }

    /** Returns a slice of the length that the entry itself states. */
    private static ByteBuf entry(ByteBuf in, int lengthAt, int least, String what) throws Malformed {
        require(in, least, what);
        int length = in.getUnsignedShort(in.readerIndex() + lengthAt);
        if (length < least) {
            throw new Malformed("OpenFlow " + what, "a length of at least " + least, "length " + length);
        }
        require(in, length, what);
        return in.readSlice(length);
    }

    private static ByteBuf start(int type, int xid) {
        return Unpooled.buffer(64)
                .writeByte(VERSION)
                .writeByte(type)
                .writeShort(0)
                .writeInt(xid);
    }

    private static ByteBuf finish(ByteBuf out) {
        return out.setShort(2, out.readableBytes());
    }
}
