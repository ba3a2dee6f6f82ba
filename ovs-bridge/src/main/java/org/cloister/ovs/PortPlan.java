package org.cloister.ovs;

import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Desired state of one port of the bridge, with everything that may pass it.
 *
 * @param device the tap or veth on this host; its owner creates it before the port
 * @param vlan the project's
 * @param self the one station behind the port
 * @param job for people; does not decide what passes
 * @param peers with whom it may exchange frames, on this host and others. A peer on this host must have it as a peer
 *     too
 * @param egress null for a port without egress; for a gateway, its own
 * @param rate null for no limit
 * @param owner the ticket and slot that own the port, for readers of the bridge
 */
public record PortPlan(
        String device,
        int vlan,
        Endpoint self,
        String job,
        PortRole role,
        Set<Endpoint> peers,
        @Nullable Egress egress,
        @Nullable PortRate rate,
        String owner) {
    static final int MAX_VLAN = 4094;
    /**
     * Maximum number of peers. More would make more flows than any job needs: workers of a job and their controlling
     * VM.
     */
    static final int MAX_PEERS = 4096;

    private static final Pattern DEVICE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,14}");
    private static final Pattern LABEL = Pattern.compile("[\\x21-\\x7e]{1,128}");

    public PortPlan {
        require(DEVICE.matcher(device).matches(), "device", "a device's name of at most 15 characters", device);
        require(vlan >= 1 && vlan <= MAX_VLAN, "vlan", "1 to " + MAX_VLAN, Integer.toString(vlan));
        require(LABEL.matcher(job).matches(), "job", "1 to 128 printable characters without blanks", job);
        require(LABEL.matcher(owner).matches(), "owner", "1 to 128 printable characters without blanks", owner);
        require(peers.size() <= MAX_PEERS, "peers", "at most " + MAX_PEERS, Integer.toString(peers.size()));
        require(role != PortRole.GATEWAY || egress != null, "egress", "destinations of a gateway", "none");
        require(
                role != PortRole.GATEWAY || egress == null || egress.gateway().equals(self),
                "egress",
                "the gateway's own endpoint " + self,
                egress == null ? "none" : egress.gateway().toString());
        peers = Collections.unmodifiableSet(new TreeSet<>(peers));
    }

    /** Returns whether a port for one plan can become a port for the other without being a different port. */
    boolean isSameStation(PortPlan other) {
        return device.equals(other.device)
                && vlan == other.vlan
                && self.equals(other.self)
                && job.equals(other.job)
                && role == other.role
                && owner.equals(other.owner);
    }

    private static void require(boolean holds, String what, String expected, String actual) {
        if (!holds) {
            throw new IllegalArgumentException(
                    "port plan: " + what + ": want " + expected + ", have \"" + actual + "\"");
        }
    }
}
