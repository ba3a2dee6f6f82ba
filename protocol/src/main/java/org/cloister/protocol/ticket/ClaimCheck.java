package org.cloister.protocol.ticket;

import java.time.Duration;
import java.time.Instant;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;

/**
 * What a host demands before it starts a VM for a ticket or an opening: the signatures of who asked and of the relay, and that
 * both mean this host and this Global job; docs/protocol.md, section 13.
 */
public final class ClaimCheck {
    /** From an allocation to the claims of its hosts: their job steps start at once. */
    public static final Duration LONGEST = Duration.ofHours(1);

    /**
     * Slurm gives whole cores, and no core has more threads. So a node has up to this, less one, more than was asked.
     */
    private static final int THREADS = 8;

    private ClaimCheck() {}

    /**
     * What the host knows itself.
     *
     * @param key the host's own
     * @param globalJob from the caller's cgroup, never from its arguments
     * @param epoch the highest in any request of the project and of this kind that the host has started a VM for, 0 if
     *     none: openings count their drive's, tickets the controlling VM's
     * @param used whether its ledger has the request
     */
    public record Claimant(VerificationKey key, long globalJob, long epoch, boolean used) {}

    /**
     * @param allocation an envelope, from the relay
     * @param relay whom the link or the chain that came along names
     * @return the host's slot
     * @throws TicketRefused by the first clause that denies
     */
    public static Slot require(SignedRequest signed, byte[] allocation, Identity relay, Claimant claimant, Instant now)
            throws TicketRefused {
        Allocation read = read(allocation, relay);
        requireSame(signed, read, claimant);
        requireTime(signed, read, now);
        requireUnused(signed, claimant);
        requireCount(signed, read);
        requireAddresses(signed, read);
        for (Slot slot : read.slots()) {
            if (slot.key().equals(claimant.key())) {
                requireShape(signed.request(), slot);
                return slot;
            }
        }
        throw new TicketRefused(
                TicketClause.PROJECT,
                signed.subject(),
                "a slot for this host, " + claimant.key(),
                read.slots().size() + " slots of others",
                "look which node the job runs on, and under which key the host is enrolled");
    }

    /** @throws TicketRefused by {@code malformed}, {@code signature} or {@code project} */
    public static Allocation read(byte[] allocation, Identity relay) throws TicketRefused {
        if (relay.role() != Role.RELAY) {
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    "allocation",
                    "a certificate of a relay",
                    relay.name().toString(),
                    "relays alone allocate");
        }
        try {
            Envelope envelope = Envelope.parse(allocation, Allocation.MAX_ENVELOPE);
            Allocation read = Allocation.parse(SignedPaper.verified("allocation", envelope, Allocation.TYPE, relay));
            requireEqual(
                    read.ticket(),
                    "relay",
                    relay.name().toString(),
                    read.relay().toString());
            return read;
        } catch (MalformedException e) {
            throw SignedPaper.malformed("allocation", Allocation.TYPE, e);
        }
    }

    private static void requireSame(SignedRequest ticket, Allocation allocation, Claimant claimant)
            throws TicketRefused {
        requireEqual(ticket.id(), "project", ticket.project(), allocation.project());
        requireEqual(ticket.id(), "ticket", ticket.id(), allocation.ticket());
        requireEqual(
                ticket.id(),
                "digest",
                ticket.digest().hex(),
                allocation.digest().hex());
        requireEqual(
                ticket.id(), "Global job", Long.toString(claimant.globalJob()), Long.toString(allocation.globalJob()));
    }

    private static void requireEqual(String ticket, String name, String want, String have) throws TicketRefused {
        if (!want.equals(have)) {
            throw new TicketRefused(
                    TicketClause.PROJECT,
                    "allocation for " + ticket,
                    name + " " + want,
                    have,
                    "somebody shows what was made for others; look at the relay");
        }
    }

    /** A ticket may have waited in Global Slurm's queue for days; from its nodes on there is no reason to wait. */
    private static void requireTime(SignedRequest ticket, Allocation allocation, Instant now) throws TicketRefused {
        Instant issued = allocation.issued();
        if (now.isBefore(issued.minus(TicketCheck.TOLERANCE))
                || !now.isBefore(issued.plus(LONGEST).plus(TicketCheck.TOLERANCE))
                || issued.isBefore(ticket.issued().minus(TicketCheck.TOLERANCE))) {
            throw new TicketRefused(
                    TicketClause.EXPIRED,
                    "allocation for " + ticket.id(),
                    "one issued after what was asked, " + ticket.issued() + ", and at most " + LONGEST.toSeconds()
                            + " s before " + now,
                    issued.toString(),
                    "set the clocks, or sign a new one");
        }
    }

    private static void requireUnused(SignedRequest ticket, Claimant claimant) throws TicketRefused {
        if (ticket.epoch() < claimant.epoch()) {
            throw new TicketRefused(
                    TicketClause.SEQUENCE,
                    ticket.subject(),
                    "epoch " + claimant.epoch() + " or later",
                    Long.toString(ticket.epoch()),
                    "a newer life of the controlling VM was opened since; sign anew");
        }
        if (claimant.used()) {
            throw new TicketRefused(
                    TicketClause.USED,
                    ticket.subject(),
                    "one for the first time",
                    "it again",
                    "a new try needs a new one");
        }
    }

    private static void requireCount(SignedRequest ticket, Allocation allocation) throws TicketRefused {
        int nodes = ticket.request().nodes();
        if (allocation.slots().size() != nodes) {
            throw new TicketRefused(
                    TicketClause.LIMIT,
                    "allocation for " + ticket.id(),
                    nodes + " slots",
                    Integer.toString(allocation.slots().size()),
                    "look at the Global job's nodes");
        }
    }

    /** Two VMs with the controlling VM's address would be taken for one another. */
    private static void requireAddresses(SignedRequest ticket, Allocation allocation) throws TicketRefused {
        Network network = allocation.network();
        for (Slot slot : allocation.slots()) {
            if (!ticket.mayHave(network, slot.address())) {
                throw new TicketRefused(
                        TicketClause.PROJECT,
                        "allocation for " + ticket.id(),
                        ticket instanceof SignedOpening
                                ? network.controller() + ", the controlling VM's address"
                                : "an address for workers in " + network,
                        slot.address().toString(),
                        "look at the relay");
            }
        }
    }

    /** Whole nodes are as large as they are; of shared ones a job has what it asked for. */
    private static void requireShape(ResourceRequest request, Slot slot) throws TicketRefused {
        boolean whole = request.exclusive();
        long most = request.mostCpusOfNode() + THREADS - 1;
        requireRange("CPUs", slot, slot.cpus(), request.cpusPerTask(), whole ? ResourceRequest.MAX_CPUS : most);
        requireRange(
                "MiB of memory",
                slot,
                slot.memoryMib(),
                request.memoryMib(),
                whole ? ResourceRequest.MAX_MIB : request.memoryMib());
    }

    private static void requireRange(String name, Slot slot, long have, long least, long most) throws TicketRefused {
        if (have < least || have > most) {
            throw new TicketRefused(
                    TicketClause.LIMIT,
                    "slot " + slot.slot() + " on " + slot.node(),
                    least + " to " + most + " " + name,
                    Long.toString(have),
                    "look what Global Slurm's partition gives more, or less, than it is asked for");
        }
    }
}
