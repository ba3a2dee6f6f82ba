package org.cloister.ovs.openflow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.SortedMap;
import java.util.TreeMap;
import org.cloister.ovs.io.OvsException.Malformed;

/**
 * Match of a flow: OXM fields (OpenFlow 1.4, section 7.2.2) in ascending order of their headers, which also places
 * every field after its prerequisites.
 *
 * <pre>
 *  0               16         23  24      32
 * +----------------+----------+---+--------+------------------+
 * |     class      |  field   |HM | length | value, mask if HM|
 * +----------------+----------+---+--------+------------------+
 * </pre>
 */
public final class FlowMatch {
    /** Ethertypes. */
    public static final int IPV4 = 0x0800;

    public static final int ARP = 0x0806;
    public static final int IPV6 = 0x86dd;

    /** Protocols. */
    public static final int TCP = 6;

    public static final int UDP = 17;
    public static final int ICMPV6 = 58;

    /** States in a VLAN id that the frame has a tag. */
    static final int TAG_PRESENT = 0x1000;

    private static final int BASIC = 0x8000;
    private static final int EXPERIMENTER = 0xffff;
    private static final int ONF = 0x4f4e4600;
    private static final int ONF_TCP_FLAGS = 42;
    private static final int TCP_ACK = 0x010;

    private static final int IN_PORT = 0;
    private static final int METADATA = 2;
    private static final int ETH_DST = 3;
    private static final int ETH_SRC = 4;
    private static final int ETH_TYPE = 5;
    static final int VLAN_VID = 6;
    private static final int IP_PROTO = 10;
    private static final int IPV4_SRC = 11;
    private static final int IPV4_DST = 12;
    private static final int TCP_SRC = 13;
    private static final int UDP_SRC = 15;
    private static final int ARP_OP = 21;
    private static final int ARP_SPA = 22;
    private static final int ARP_TPA = 23;
    private static final int ARP_SHA = 24;
    private static final int IPV6_SRC = 26;
    private static final int IPV6_DST = 27;
    private static final int ICMPV6_TYPE = 29;
    private static final int ND_TARGET = 31;
    private static final int ND_SLL = 32;
    private static final int ND_TLL = 33;

    public static final FlowMatch ANY = new FlowMatch(new ImmutableBytes(new byte[0]));

    private final ImmutableBytes fields;

    private FlowMatch(ImmutableBytes fields) {
        this.fields = fields;
    }

    public FlowMatch inPort(int port) {
        return with(IN_PORT, int32(port));
    }

    public FlowMatch metadata(long metadata) {
        return with(METADATA, ByteBuffer.allocate(Long.BYTES).putLong(metadata).array());
    }

    public FlowMatch ethDst(byte[] mac) {
        return with(ETH_DST, mac);
    }

    public FlowMatch ethSrc(byte[] mac) {
        return with(ETH_SRC, mac);
    }

    public FlowMatch ethType(int type) {
        return with(ETH_TYPE, int16(type));
    }

    public FlowMatch untagged() {
        return with(VLAN_VID, int16(0));
    }

    public FlowMatch vlan(int id) {
        return with(VLAN_VID, int16(TAG_PRESENT | id));
    }

    public FlowMatch ipProto(int protocol) {
        return with(IP_PROTO, new byte[] {(byte) protocol});
    }

    public FlowMatch ipv4Src(byte[] address) {
        return with(IPV4_SRC, address);
    }

    public FlowMatch ipv4Dst(byte[] address) {
        return with(IPV4_DST, address);
    }

    /** @param protocol {@link #TCP} or {@link #UDP} */
    public FlowMatch portSrc(int protocol, int port) {
        return ipProto(protocol).with(protocol == TCP ? TCP_SRC : UDP_SRC, int16(port));
    }

    public FlowMatch portDst(int protocol, int port) {
        return ipProto(protocol).with((protocol == TCP ? TCP_SRC : UDP_SRC) + 1, int16(port));
    }

    /** Matches answers: every segment of a TCP connection but the one that opens it. */
    public FlowMatch tcpAcknowledges() {
        ByteBuffer field = ByteBuffer.allocate(12);
        field.putInt(header(EXPERIMENTER, ONF_TCP_FLAGS, true, 8)).putInt(ONF);
        field.putShort((short) TCP_ACK).putShort((short) TCP_ACK);
        return with(field.array());
    }

    public FlowMatch arpOp(int operation) {
        return with(ARP_OP, int16(operation));
    }

    public FlowMatch arpSender(byte[] mac, byte[] address) {
        return with(ARP_SHA, mac).with(ARP_SPA, address);
    }

    public FlowMatch arpTarget(byte[] address) {
        return with(ARP_TPA, address);
    }

    public FlowMatch ipv6Src(byte[] address) {
        return with(IPV6_SRC, address);
    }

    public FlowMatch ipv6Dst(byte[] address) {
        return with(IPV6_DST, address);
    }

    public FlowMatch icmpv6(int type) {
        return ipProto(ICMPV6).with(ICMPV6_TYPE, new byte[] {(byte) type});
    }

    public FlowMatch ndTarget(byte[] address) {
        return with(ND_TARGET, address);
    }

    public FlowMatch ndSource(byte[] mac) {
        return with(ND_SLL, mac);
    }

    public FlowMatch ndTargetMac(byte[] mac) {
        return with(ND_TLL, mac);
    }

    /** Writes {@code struct ofp_match}: type, length, fields, padding to 8 bytes. */
    void write(ByteBuf out) {
        int length = 4 + fields.array().length;
        out.writeShort(1).writeShort(length).writeBytes(fields.array());
        out.writeZero((8 - length % 8) % 8);
    }

    static FlowMatch read(ByteBuf in) throws Malformed {
        OpenFlowCodec.require(in, 4, "match");
        int type = in.readUnsignedShort();
        int length = in.readUnsignedShort();
        if (type != 1 || length < 4) {
            throw new Malformed("OpenFlow match", "type 1, length at least 4", "type " + type + ", length " + length);
        }
        OpenFlowCodec.require(in, length - 4, "match");
        ByteBuf body = in.readSlice(length - 4);
        TreeMap<Integer, byte[]> sorted = new TreeMap<>(Integer::compareUnsigned);
        while (body.isReadable()) {
            OpenFlowCodec.require(body, 4, "match field");
            int header = body.getInt(body.readerIndex());
            byte[] field = new byte[4 + (header & 0xff)];
            OpenFlowCodec.require(body, field.length, "match field");
            body.readBytes(field);
            sorted.put(header, field);
        }
        OpenFlowCodec.skip(in, (8 - length % 8) % 8, "match");
        return new FlowMatch(joined(sorted));
    }

    private FlowMatch with(int field, byte[] value) {
        ByteBuffer whole = ByteBuffer.allocate(4 + value.length);
        whole.putInt(header(BASIC, field, false, value.length)).put(value);
        return with(whole.array());
    }

    /** Inserts a field at its place in the order, or replaces another value of the same field. */
    private FlowMatch with(byte[] field) {
        byte[] had = fields.array();
        int header = ByteBuffer.wrap(field).getInt();
        int at = 0;
        int order = 1;
        while (at < had.length && order > 0) {
            order = Integer.compareUnsigned(header, ByteBuffer.wrap(had).getInt(at));
            at += order > 0 ? 4 + (had[at + 3] & 0xff) : 0;
        }
        int rest = at < had.length && order == 0 ? at + field.length : at;
        byte[] all = new byte[at + field.length + had.length - rest];
        System.arraycopy(had, 0, all, 0, at);
        System.arraycopy(field, 0, all, at, field.length);
        System.arraycopy(had, rest, all, at + field.length, had.length - rest);
        return new FlowMatch(new ImmutableBytes(all));
    }

    private static ImmutableBytes joined(SortedMap<Integer, byte[]> sorted) {
        ByteBuf all = Unpooled.buffer();
        sorted.values().forEach(all::writeBytes);
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        return new ImmutableBytes(bytes);
    }

    static int header(int oxmClass, int field, boolean masked, int length) {
        return oxmClass << 16 | field << 9 | (masked ? 1 : 0) << 8 | length;
    }

    private static byte[] int16(int value) {
        return new byte[] {(byte) (value >> 8), (byte) value};
    }

    private static byte[] int32(int value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FlowMatch that && fields.equals(that.fields);
    }

    @Override
    public int hashCode() {
        return fields.hashCode();
    }

    @Override
    public String toString() {
        return FlowMatchText.of(fields.array());
    }
}
