package org.cloister.protocol.evidence;

import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;

/**
 * Facts about a VM that its host takes from its own ledger, never from arguments.
 *
 * @param vm its id, new for each life
 * @param ticket for which it was started; for a controlling VM, the opening
 * @param slot among the ticket's nodes, from 0
 * @param sharing with which projects it shares the host
 */
public record VmFacts(
        String project,
        String vm,
        VmRole role,
        String ticket,
        long slot,
        Digest image,
        VmShape shape,
        HostSharing sharing) {
    /** Pattern of the ids of VMs and tickets: base32. */
    public static final Pattern ID = Pattern.compile("[a-z2-7]{16,64}");
    /** Highest slot of a statement; every job has fewer nodes. */
    public static final long MAX_SLOT = 65_535;

    public VmFacts {
        require("project", project, ProjectPolicy.PROJECT);
        require("vm", vm, ID);
        require("ticket", ticket, ID);
        if (slot < 0 || slot > MAX_SLOT) {
            throw new IllegalArgumentException("slot: want 0 to " + MAX_SLOT + ", have " + slot);
        }
        if (image.algorithm() != Digest.Algorithm.SHA384) {
            throw new IllegalArgumentException("image: want SHA-384, have " + image.algorithm());
        }
    }

    private static void require(String name, String value, Pattern want) {
        if (!want.matcher(value).matches()) {
            throw new IllegalArgumentException(name + ": want " + want + ", have \"" + value + "\"");
        }
    }
}
