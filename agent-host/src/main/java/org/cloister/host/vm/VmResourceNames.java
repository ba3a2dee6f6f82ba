package org.cloister.host.vm;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.WorkerName;

/**
 * Names of one VM's resources on its host: domain, tap, folder. A project chooses its tickets' ids, and names contain
 * their beginnings: two VMs may need the same name, and the second is refused. Only {@link ResourceOwner} states who
 * owns a resource.
 *
 * @param ticket the whole id; for a controlling VM, the opening's id
 * @param slot among the ticket's nodes, from 0
 */
public record VmResourceNames(String ticket, int slot) {
    /**
     * Letters of a tap's name: with four for the slot and three of the prefix, the 15 characters of an interface's
     * name.
     */
    private static final int TAP_LETTERS = 8;

    private static final int TAP_RADIX = 36;
    private static final String SLOT = "(0|[1-9][0-9]{0,4})";
    private static final Pattern DOMAIN = Pattern.compile("cloister-[a-z2-7]{16}-" + SLOT);
    private static final Pattern TAP = Pattern.compile("cl-[a-z2-7]{8}(0|[1-9a-z][0-9a-z]{0,3})");

    /** @throws IllegalArgumentException if a value is out of its range */
    public VmResourceNames {
        requireTicket(ticket);
        requireSlot(slot);
    }

    public String domain() {
        return "cloister-" + label();
    }

    /** Returns the part of the domain's name that is specific to this VM: one label of a DNS name. */
    public String label() {
        return WorkerName.label(ticket, slot);
    }

    /** Returns the tap's name, with the prefix of ovs-bridge's ports. */
    public String tap() {
        return "cl-" + ticket.substring(0, TAP_LETTERS) + Integer.toString(slot, TAP_RADIX);
    }

    /** Returns the folder of the VM's files and sockets; it has the domain's name. */
    public Path folder(Path state) {
        return state.resolve(domain());
    }

    /** Returns whether a domain or folder has a name of our form; only its owner shows whether it is ours. */
    public static boolean isDomain(String name) {
        return DOMAIN.matcher(name).matches();
    }

    /** Returns whether an interface has a name of our taps' form, which another program's may have, too. */
    public static boolean isTap(String name) {
        return TAP.matcher(name).matches();
    }

    static void requireTicket(String ticket) {
        if (!VmFacts.ID.matcher(ticket).matches()) {
            throw new IllegalArgumentException("ticket: want " + VmFacts.ID + ", have \"" + ticket + "\"");
        }
    }

    static void requireSlot(int slot) {
        if (slot < 0 || slot > VmFacts.MAX_SLOT) {
            throw new IllegalArgumentException("slot: want 0 to " + VmFacts.MAX_SLOT + ", have " + slot);
        }
    }
}
