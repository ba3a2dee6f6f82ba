package org.cloister.lab.scenario;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.cloister.ovs.Endpoint;

/** Frames as a machine could send them, each with a number behind its contents by which it is known wherever it arrives. */
final class NumberedFrames {
    /** At the start of every trailer: no other traffic has it. */
    private static final long MARK = 0x436c6f6973746572L;

    private static final int MIN_FRAME = 60;
    private static final byte[] BROADCAST = {-1, -1, -1, -1, -1, -1};

    private NumberedFrames() {}

    static byte[] mac(Endpoint endpoint) {
        return HexFormat.ofDelimiter(":").parseHex(endpoint.mac().text());
    }

    static byte[] ip(String text) {
        byte[] bytes = new byte[4];
        String[] parts = text.split("\\.", -1);
        for (int i = 0; i < 4; i++) {
            bytes[i] = (byte) Integer.parseInt(parts[i]);
        }
        return bytes;
    }

    static byte[] ethernet(byte[] to, byte[] from, int type, byte[] contents) {
        ByteBuffer frame = ByteBuffer.allocate(14 + contents.length);
        return frame.put(to).put(from).putShort((short) type).put(contents).array();
    }

    static byte[] arp(byte[] to, Endpoint from, int operation, byte[] senderIp, byte[] targetMac, byte[] targetIp) {
        ByteBuffer arp = ByteBuffer.allocate(28);
        arp.putShort((short) 1).putShort((short) 0x0800).put((byte) 6).put((byte) 4);
        arp.putShort((short) operation)
                .put(mac(from))
                .put(senderIp)
                .put(targetMac)
                .put(targetIp);
        return ethernet(to, mac(from), 0x0806, arp.array());
    }

    static byte[] ipv4(byte[] to, byte[] fromMac, byte[] from, byte[] target, int protocol, byte[] contents) {
        ByteBuffer ip = ByteBuffer.allocate(20 + contents.length);
        ip.put((byte) 0x45).put((byte) 0).putShort((short) ip.capacity()).putInt(0);
        ip.put((byte) 64).put((byte) protocol).putShort((short) 0).put(from).put(target);
        ip.putShort(10, checksum(ip.array()));
        ip.put(contents);
        return ethernet(to, fromMac, 0x0800, ip.array());
    }

    static byte[] udp(int from, int to) {
        return ByteBuffer.allocate(16)
                .putShort((short) from)
                .putShort((short) to)
                .putShort((short) 16)
                .array();
    }

    /** @param flags 2 opens a connection, 16 answers */
    static byte[] tcp(int from, int to, int flags) {
        ByteBuffer tcp = ByteBuffer.allocate(20);
        tcp.putShort((short) from).putShort((short) to).putInt(1).putInt(0);
        return tcp.put((byte) 0x50).put((byte) flags).putShort((short) 512).array();
    }

    static byte[] icmpEcho() {
        return ByteBuffer.allocate(16).put((byte) 8).array();
    }

    static byte[] ipv6(byte[] to, byte[] fromMac, byte[] from, byte[] target, int protocol, byte[] contents) {
        ByteBuffer ip = ByteBuffer.allocate(40 + contents.length);
        ip.putInt(0x60000000).putShort((short) contents.length).put((byte) protocol);
        // Neighbour discovery is only heard with this hop limit.
        ip.put((byte) 255).put(from).put(target).put(contents);
        return ethernet(to, fromMac, 0x86dd, ip.array());
    }

    /** Solicitation 135 with the sender's, or advertisement 136 with the target's MAC. */
    static byte[] neighbour(int type, byte[] target, byte[] mac) {
        ByteBuffer nd = ByteBuffer.allocate(32);
        nd.put((byte) type).put((byte) 0).putShort((short) 0).putInt(type == 136 ? 0x60000000 : 0);
        return nd.put(target)
                .put((byte) (type == 136 ? 2 : 1))
                .put((byte) 1)
                .put(mac)
                .array();
    }

    static byte[] icmpv6(int type) {
        return ByteBuffer.allocate(16).put((byte) type).array();
    }

    static byte[] tagged(byte[] frame, int ethertype, int vlan) {
        ByteBuffer tagged = ByteBuffer.allocate(frame.length + 4);
        tagged.put(frame, 0, 12).putShort((short) ethertype).putShort((short) vlan);
        return tagged.put(frame, 12, frame.length - 12).array();
    }

    static byte[] broadcast() {
        return BROADCAST.clone();
    }

    static byte[] numbered(byte[] frame, int number) {
        int at = Math.max(frame.length, MIN_FRAME);
        ByteBuffer whole = ByteBuffer.allocate(at + 12);
        whole.put(frame).putLong(at, MARK).putInt(at + 8, number);
        return whole.array();
    }

    /** The number of a frame of ours, or -1 for other traffic. */
    static int number(byte[] frame) {
        if (frame.length < MIN_FRAME) {
            return -1;
        }
        ByteBuffer whole = ByteBuffer.wrap(frame);
        return whole.getLong(frame.length - 12) == MARK ? whole.getInt(frame.length - 4) : -1;
    }

    private static short checksum(byte[] header) {
        int sum = 0;
        for (int i = 0; i < 20; i += 2) {
            sum += (header[i] & 0xff) << 8 | (header[i + 1] & 0xff);
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        return (short) ~(sum + (sum >>> 16));
    }
}
