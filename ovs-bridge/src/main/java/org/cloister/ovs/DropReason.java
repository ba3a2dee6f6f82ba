package org.cloister.ovs;

import java.util.Locale;
import java.util.Optional;

/** Reason for dropping a frame, or {@link #PASSES}; the lower half of a flow's cookie. */
public enum DropReason {
    PASSES(0, "may pass"),
    LOCAL_PORT(1, "comes from the bridge's own port, which nobody uses"),
    UNKNOWN_PORT(2, "comes from a port that nobody planned"),
    FORGED_TAG(3, "has a VLAN tag though it comes from a machine"),
    UNKNOWN_VLAN(4, "comes from another host in a VLAN that has no port here"),
    SPOOFED(5, "does not have the addresses of the machine behind its port"),
    STRANGER(6, "comes from another host but from nobody whom a port here has as a peer"),
    IPV6_CLOSED(7, "is IPv6, which is closed for its sender"),
    NEIGHBOUR_DISCOVERY(8, "is neighbour or router discovery that its sender has no right to"),
    DHCP_SERVER(9, "is a DHCP server's answer"),
    ISOLATION(10, "is for somebody whom its sender may not reach, or for everybody");

    /** Marks flows as ours, and distinguishes versions of this pipeline. */
    private static final long MARK = 0xc1015701L << 32;

    private final int code;
    private final String text;

    DropReason(int code, String text) {
        this.code = code;
        this.text = text;
    }

    long cookie() {
        return MARK | code;
    }

    static Optional<DropReason> of(long cookie) {
        for (DropReason reason : values()) {
            if (reason.cookie() == cookie) {
                return Optional.of(reason);
            }
        }
        return Optional.empty();
    }

    /** Returns the text that completes "the frame ...". */
    public String words() {
        return text;
    }

    /** Returns the name that metrics and commands use. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
