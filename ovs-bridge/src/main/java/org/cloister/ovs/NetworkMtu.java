package org.cloister.ovs;

/**
 * The largest IP packet that each layer of a worker's network carries. The uplink's MTU is the one that the operator
 * configured on the physical network; all others are computed from it.
 *
 * @param port of the device on the bridge and of the VM's interface: the creator of the interface sets it
 * @param tunnel the largest packet that fits into one ESP packet of that interface: the limit for the VM's own traffic
 */
public record NetworkMtu(int port, int tunnel) {
    /** Every IPv4 path must carry 68 bytes (RFC 791); below 576 the network is not useful. */
    private static final int LEAST = 576;

    /** Hardware calls an Ethernet frame of a little over 9,000 bytes jumbo. */
    private static final int MOST = 9216;

    private static final int VLAN_TAG = 4;
    private static final int IPV4_HEADER = 20;
    private static final int UDP_HEADER = 8;
    private static final int ESP_HEADER = 8;
    /** AES-256-GCM, RFC 4106: an explicit IV, a tag, and contents in words of 4 bytes. */
    private static final int GCM_IV = 8;

    private static final int GCM_TAG = 16;
    private static final int WORD = 4;
    /** The padding's length and the next header's number. */
    private static final int ESP_TRAILER = 2;

    /** Encapsulation of ESP. */
    public enum Esp {
        /** Host to host; the IP header of the packet is the one on the wire. */
        TRANSPORT,
        /** A whole packet inside another. */
        TUNNEL,
        /** A whole packet inside a UDP datagram, where the kernel has no ESP of its own. */
        TUNNEL_IN_UDP
    }

    /** @param tagCounts whether the uplink's MTU must include the VLAN tag too, as with drivers that count it */
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
