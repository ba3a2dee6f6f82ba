package org.cloister.ovs.openflow;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import java.util.StringJoiner;

/** Prints a match in the syntax of {@code ovs-ofctl}, for messages. */
final class FlowMatchText {
    /** The value is followed by a mask. */
    private static final int MASKED = 0x100;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(0, "in_port"),
            Map.entry(2, "metadata"),
            Map.entry(3, "dl_dst"),
            Map.entry(4, "dl_src"),
            Map.entry(5, "dl_type"),
            Map.entry(6, "vlan_vid"),
            Map.entry(10, "nw_proto"),
            Map.entry(11, "nw_src"),
            Map.entry(12, "nw_dst"),
            Map.entry(13, "tcp_src"),
            Map.entry(14, "tcp_dst"),
            Map.entry(15, "udp_src"),
            Map.entry(16, "udp_dst"),
            Map.entry(21, "arp_op"),
            Map.entry(22, "arp_spa"),
            Map.entry(23, "arp_tpa"),
            Map.entry(24, "arp_sha"),
            Map.entry(26, "ipv6_src"),
            Map.entry(27, "ipv6_dst"),
            Map.entry(29, "icmpv6_type"),
            Map.entry(31, "nd_target"),
            Map.entry(32, "nd_sll"),
            Map.entry(33, "nd_tll"));

    private FlowMatchText() {}

    static String of(byte[] fields) {
        StringJoiner text = new StringJoiner(",");
        ByteBuffer in = ByteBuffer.wrap(fields);
        while (in.hasRemaining()) {
            int header = in.getInt();
            byte[] value = new byte[header & 0xff];
            in.get(value);
            int field = header >>> 9 & 0x7f;
            String name = header >>> 16 == 0x8000 ? NAMES.get(field) : null;
            text.add((name == null ? String.format("field_%08x", header) : name) + "="
                    + ((header & MASKED) == 0
                            ? value(field, value)
                            : "0x" + HexFormat.of().formatHex(value)));
        }
        return text.length() == 0 ? "any" : text.toString();
    }

    private static String value(int field, byte[] value) {
        return switch (field) {
            case 3, 4, 24, 32, 33 -> HexFormat.ofDelimiter(":").formatHex(value);
            case 11, 12, 22, 23 ->
                value.length == 4
                        ? (value[0] & 0xff) + "." + (value[1] & 0xff) + "." + (value[2] & 0xff) + "."
                                + (value[3] & 0xff)
                        : HexFormat.of().formatHex(value);
            case 0, 10, 13, 14, 15, 16, 21, 29 -> new BigInteger(1, value).toString();
            default -> "0x" + HexFormat.of().formatHex(value);
        };
    }
}
