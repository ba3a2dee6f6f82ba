package org.cloister.host.vm;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.WorkerName;

/**
 * What the objects of one VM are called on its host: domain, tap, folder. A project chooses its tickets' ids, and names
 * hold their beginnings: two VMs may want one name, and the second is refused. Whose an object is says
 * {@link ResourceOwner} alone.
 *
 * @param ticket whole; of a controlling VM, the opening's id
 * @param slot among the ticket's nodes, from 0
 */
public record VmResourceNames(String ticket, int slot) {
    /** With four for the slot and three before, the 15 that an interface's name holds. */
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

    /** What of the domain's name is this VM's: one label of a DNS name. */
    public String label() {
        return WorkerName.label(ticket, slot);
    }

    /** As ovs-bridge's ports begin. */
    public String tap() {
        return "cl-" + ticket.substring(0, TAP_LETTERS) + Integer.toString(slot, TAP_RADIX);
    }

    /** For what the VM has on disk and as sockets; called as the domain is. */
    public Path folder(Path state) {
        return state.resolve(domain());
    }

    /** Whether a domain or a folder is called as ours are; whether it is ours says its owner. */
    public static boolean isDomain(String name) {
        return DOMAIN.matcher(name).matches();
    }

    /** Whether an interface is called as our taps are; another program's may be too. */
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
