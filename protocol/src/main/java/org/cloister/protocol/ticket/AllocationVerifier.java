package org.cloister.protocol.ticket;

import java.time.Duration;
import java.time.Instant;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;

/**
 * Verifies, before a host starts a VM for a ticket or an opening, the signatures of the requester and of the relay, and
 * that both objects are for this host and this Global job; docs/protocol.md, section 13.
 */
public final class AllocationVerifier {
    /** Longest time from an allocation to the claims of its hosts: their job steps start at once. */
    public static final Duration LONGEST = Duration.ofHours(1);

    /**
     * Limit of threads per core. Slurm allocates whole cores, so a node has up to this number, less one, of CPUs more
     * than were requested.
     */
    private static final int THREADS = 8;

    private AllocationVerifier() {}

    /**
     * Values that the host knows itself.
     *
     * @param key the host's own
     * @param globalJob from the caller's cgroup, never from its arguments
     * @param epoch the highest of all requests of the project and of this kind for which the host has started a VM, 0
     *     if there is none: an opening's is its drive's, a ticket's the controlling VM's
     * @param used whether its ledger has the request
     */
    public record Claimant(VerificationKey key, long globalJob, long epoch, boolean used) {}

    /**
     * Verifies an allocation against the signed request and the host's own values.
     *
     * @param allocation an envelope, from the relay
     * @param relay identity that the link, or the chain sent with the allocation, proves
     * @return the host's slot
     * @throws TicketRefusedException by the first clause that denies
     */
    public static AllocatedSlot require(
            SignedRequest signed, byte[] allocation, CertifiedIdentity relay, Claimant claimant, Instant now)
            throws TicketRefusedException {
        Allocation read = read(allocation, relay);
        requireSame(signed, read, claimant);
        requireTime(signed, read, now);
        requireUnused(signed, claimant);
        requireCount(signed, read);
        requireAddresses(signed, read);
        for (AllocatedSlot slot : read.slots()) {
            if (slot.key().equals(claimant.key())) {
                requireShape(signed.request(), slot);
                return slot;
            }
        }
        throw new TicketRefusedException(
                TicketClause.PROJECT,
                signed.subject(),
                "a slot for this host, " + claimant.key(),
                read.slots().size() + " slots of others",
                "look which node the job runs on, and under which key the host is enrolled");
    }

    /**
     * Verifies the relay's signature and parses the allocation.
     *
     * @throws TicketRefusedException by {@code malformed}, {@code signature} or {@code project}
     */
    public static Allocation read(byte[] allocation, CertifiedIdentity relay) throws TicketRefusedException {
        if (relay.role() != CertificateRole.RELAY) {
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    "allocation",
                    "a certificate of a relay",
                    relay.name().toString(),
                    "relays alone allocate");
        }
        try {
            DsseEnvelope envelope = DsseEnvelope.parse(allocation, Allocation.MAX_ENVELOPE);
            Allocation read =
                    Allocation.parse(SignedObjectReader.verified("allocation", envelope, Allocation.TYPE, relay));
            requireEqual(
                    read.ticket(),
                    "relay",
                    relay.name().toString(),
                    read.relay().toString());
            return read;
        } catch (MalformedException e) {
            throw SignedObjectReader.malformed("allocation", Allocation.TYPE, e);
        }
    }

    private static void requireSame(SignedRequest ticket, Allocation allocation, Claimant claimant)
            throws TicketRefusedException {
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

    private static void requireEqual(String ticket, String name, String want, String have)
            throws TicketRefusedException {
        if (!want.equals(have)) {
            throw new TicketRefusedException(
                    TicketClause.PROJECT,
                    "allocation for " + ticket,
                    name + " " + want,
                    have,
                    "somebody shows what was made for others; look at the relay");
        }
    }

    /**
     * Checks the allocation's time. A ticket may have waited in Global Slurm's queue for days; from the allocation of
     * its nodes on there is no reason to wait.
     */
    private static void requireTime(SignedRequest ticket, Allocation allocation, Instant now)
            throws TicketRefusedException {
        Instant issued = allocation.issued();
        if (now.isBefore(issued.minus(TicketVerifier.TOLERANCE))
                || !now.isBefore(issued.plus(LONGEST).plus(TicketVerifier.TOLERANCE))
                || issued.isBefore(ticket.issued().minus(TicketVerifier.TOLERANCE))) {
            throw new TicketRefusedException(
                    TicketClause.EXPIRED,
                    "allocation for " + ticket.id(),
                    "one issued after what was asked, " + ticket.issued() + ", and at most " + LONGEST.toSeconds()
                            + " s before " + now,
                    issued.toString(),
                    "set the clocks, or sign a new one");
        }
    }

    private static void requireUnused(SignedRequest ticket, Claimant claimant) throws TicketRefusedException {
        if (ticket.epoch() < claimant.epoch()) {
            throw new TicketRefusedException(
                    TicketClause.SEQUENCE,
                    ticket.subject(),
                    "epoch " + claimant.epoch() + " or later",
                    Long.toString(ticket.epoch()),
                    "a newer life of the controlling VM was opened since; sign anew");
        }
        if (claimant.used()) {
            throw new TicketRefusedException(
                    TicketClause.USED,
                    ticket.subject(),
                    "one for the first time",
                    "it again",
                    "a new try needs a new one");
        }
    }

    private static void requireCount(SignedRequest ticket, Allocation allocation) throws TicketRefusedException {
        int nodes = ticket.request().nodes();
        if (allocation.slots().size() != nodes) {
            throw new TicketRefusedException(
                    TicketClause.LIMIT,
                    "allocation for " + ticket.id(),
                    nodes + " slots",
                    Integer.toString(allocation.slots().size()),
                    "look at the Global job's nodes");
        }
    }

    /** Checks the addresses: two VMs with the controlling VM's address would be confused. */
    private static void requireAddresses(SignedRequest ticket, Allocation allocation) throws TicketRefusedException {
        ProjectSubnet network = allocation.network();
        for (AllocatedSlot slot : allocation.slots()) {
            if (!ticket.allowsAddress(network, slot.address())) {
                throw new TicketRefusedException(
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

    /**
     * Checks the size of a slot: of an exclusive node the job has all that it has, of a shared node what was requested.
     */
    private static void requireShape(ResourceRequest request, AllocatedSlot slot) throws TicketRefusedException {
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

    private static void requireRange(String name, AllocatedSlot slot, long have, long least, long most)
            throws TicketRefusedException {
        if (have < least || have > most) {
            throw new TicketRefusedException(
                    TicketClause.LIMIT,
                    "slot " + slot.slot() + " on " + slot.node(),
                    least + " to " + most + " " + name,
                    Long.toString(have),
                    "look what Global Slurm's partition gives more, or less, than it is asked for");
        }
    }
}
