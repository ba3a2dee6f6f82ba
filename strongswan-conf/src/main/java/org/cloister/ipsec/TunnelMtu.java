package org.cloister.ipsec;

/**
 * The largest IPv4 packet that fits through a tunnel in one piece, for AES-GCM with a tag of 16 bytes (RFC 4106, RFC
 * 4303, section 2) over IPv4.
 *
 * <p>In user space the device {@link EspMode#DEVICE} must be given {@link #inner} as its MTU where that is less than
 * 1400.
 *
 * @param link what the device carries, 576 to 65535 bytes: 1500 on Ethernet
 */
public record TunnelMtu(int link, EspMode by) {
    private static final int IP = 20;
    private static final int UDP = 8;
    private static final int TCP = 20;
    /** The SPI and sequence number. */
    private static final int ESP_HEAD = 8;

    private static final int IV = 8;
    /** The padding's length and the next header. */
    private static final int ESP_TAIL = 2;

    private static final int TAG = 16;
    /**
     * The most that {@code kernel-libipsec} reads of a packet; it drops a longer one. Its device has this MTU from the
     * start.
     */
    private static final int LIBIPSEC = 1400;

    /** The encrypted part is padded to a multiple of this. */
    private static final int ALIGNMENT = 4;

    public TunnelMtu {
        if (link < 576 || link > 65_535) {
            throw new IllegalArgumentException("MTU: want 576 to 65535 bytes, have " + link);
        }
    }

    /** Returns the maximum length of a packet with its header, as programs in the VM see it. */
    public int inner() {
        int carried = encryptedRoom() - ESP_TAIL;
        // In transport mode the packet's own header stays in front.
        return by == EspMode.KERNEL ? IP + carried : Math.min(carried, LIBIPSEC);
    }

    /** Returns the largest TCP segment, without options. */
    public int segment() {
        return inner() - IP - TCP;
    }

    /** Returns the length on the wire of a packet of the given length. */
    public int outer(int packet) {
        int carried = by == EspMode.KERNEL ? packet - IP : packet;
        int padded = (carried + ESP_TAIL + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        return IP + (by == EspMode.KERNEL ? 0 : UDP) + ESP_HEAD + IV + padded + TAG;
    }

    private int encryptedRoom() {
        int room = link - IP - (by == EspMode.KERNEL ? 0 : UDP) - ESP_HEAD - IV - TAG;
        return room / ALIGNMENT * ALIGNMENT;
    }
}
