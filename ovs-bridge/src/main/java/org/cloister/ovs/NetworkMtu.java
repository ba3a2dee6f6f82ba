package org.cloister.ovs;

/**
 * The largest IP packet that each layer of a worker's network carries. The uplink's MTU is what the operator configures
 * on the physical network; everything else follows.
 *
 * @param port of the device on the bridge and of the VM's interface: whoever makes the interface sets it
 * @param tunnel what fits into one ESP packet of that interface: what the VM's own traffic may be
 */
public record NetworkMtu(int port, int tunnel) {
    /** RFC 791: what every IPv4 path must carry is 68; below 576 nothing here is worth carrying. */
    private static final int LEAST = 576;

    /** An Ethernet frame of 9,000 bytes and a little is what hardware calls jumbo. */
    private static final int MOST = 9216;

    private static final int VLAN_TAG = 4;
    private static final int IPV4_HEADER = 20;
    private static final int UDP_HEADER = 8;
    private static final int ESP_HEADER = 8;
    /** AES-256-GCM, RFC 4106: an explicit IV, a tag, and contents in words of 4 bytes. */
    private static final int GCM_IV = 8;

    private static final int GCM_TAG = 16;
    private static final int WORD = 4;
    /** Padding's length and the next header's number. */
    private static final int ESP_TRAILER = 2;

    /** How ESP is carried. */
    public enum Esp {
        /** Host to host; the IP header of the packet is the one on the wire. */
        TRANSPORT,
        /** A whole packet inside another. */
        TUNNEL,
        /** A whole packet inside a UDP datagram, where the kernel has no ESP of its own. */
        TUNNEL_IN_UDP
    }

    /** @param tagCounts whether the uplink's MTU must hold the VLAN tag too, as with drivers that count it */
    public static NetworkMtu of(int uplink, boolean tagCounts, Esp esp) {
        if (uplink < LEAST || uplink > MOST) {
            throw new IllegalArgumentException("uplink MTU: want " + LEAST + " to " + MOST + ", have " + uplink);
        }
        int port = uplink - (tagCounts ? VLAN_TAG : 0);
        int outside = IPV4_HEADER + (esp == Esp.TUNNEL_IN_UDP ? UDP_HEADER : 0) + ESP_HEADER + GCM_IV + GCM_TAG;
        int inside = (port - outside) / WORD * WORD - ESP_TRAILER;
        return new NetworkMtu(port, esp == Esp.TRANSPORT ? inside + IPV4_HEADER : inside);
    }
}
