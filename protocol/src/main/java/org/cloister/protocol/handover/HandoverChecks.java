package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;

/**
 * Checks values of a boot conversation. Each check throws an IllegalArgumentException whose text contains none of the
 * peer's own text.
 */
final class HandoverChecks {
    /** Milliseconds to the year 10000. */
    private static final long LAST_MS = 253_402_300_800_000L;

    private HandoverChecks() {}

    static void that(boolean holds, String what, String want, Object have) {
        if (!holds) {
            throw new IllegalArgumentException(what + ": want " + want + ", have " + have);
        }
    }

    static void within(String what, long value, long least, long most) {
        that(value >= least && value <= most, what, least + " to " + most, value);
    }

    static void ticket(String ticket) {
        that(Ticket.ID.matcher(ticket).matches(), "ticket", "26 characters of base32", other(ticket));
    }

    static void slot(int slot) {
        within("slot", slot, 0, ResourceRequest.MAX_NODES - 1);
    }

    static void vm(String vm) {
        that(VmFacts.ID.matcher(vm).matches(), "vm", "16 to 64 characters of base32", other(vm));
    }

    static void time(Instant time) {
        within("time", time.toEpochMilli(), 0, LAST_MS - 1);
    }

    static void lease(Duration lease) {
        within(
                "lease",
                lease.toSeconds(),
                HandoverDocument.LEAST_LEASE.toSeconds(),
                HandoverDocument.MOST_LEASE.toSeconds());
    }

    /** Checks the digest of the owners' policy. */
    static void policy(Digest policy) {
        that(policy.algorithm() == Digest.Algorithm.SHA384, "policy", "SHA-384", policy.algorithm());
    }

    /**
     * Checks that the chain is that of the target's worker, without verifying its signatures.
     *
     * @return the name of the target's worker, as its chain claims it
     */
    static CertificateName worker(List<ByteString> certificates, HandoverTarget target) {
        that(certificates.size() > 1, "certificates", "a leaf and its authorities", certificates.size());
        try {
            CertificateName name = CertificateChain.parse(
                            certificates.stream().map(ByteString::toByteArray).toList())
                    .claimed();
            that(
                    name.equals(WorkerName.of(target.ticket(), target.slot(), name.project())),
                    "certificate",
                    "one of the worker " + WorkerName.label(target.ticket(), target.slot()),
                    name);
            return name;
        } catch (IdentityRefusedException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** Describes a malformed text without its content. */
    static String other(String text) {
        return text.length() + " characters of another form";
    }

    /** Converts a uint32 from the wire, which Java reads as negative above its own range. */
    static long unsigned(int value) {
        return Integer.toUnsignedLong(value);
    }
}
