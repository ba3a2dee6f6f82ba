package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.Digest;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;

/**
 * All that a worker gets of its controlling VM, once a slot. All of it fits together; whether it is for this worker, and the
 * certificate for its key, the worker asks itself.
 *
 * @param certificates the worker's chain in DER, the leaf first
 * @param mungeKey sealed with {@link #sealingContext}
 * @param station how it joins the network: its address is its node's
 * @param controller who gives this; its address is the network's first
 * @param lease for which the worker goes on without hearing of its controlling VM
 * @param policy SHA-384 of the owners' policy in force
 * @param digest SHA-256 of the ticket, which the worker's part of the receipt names
 */
public record HandOver(
        Place place,
        List<ByteString> certificates,
        SealedSecret mungeKey,
        Instant time,
        Station station,
        Name controller,
        Job job,
        Accounts accounts,
        List<Mount> mounts,
        Duration lease,
        Digest policy,
        Digest digest)
        implements VerifierMessage {
    /** That controlling VMs give. */
    public static final Duration LEASE = Duration.ofHours(8);

    static final Duration LEAST_LEASE = Duration.ofMinutes(1);
    static final Duration MOST_LEASE = Duration.ofDays(7);

    /** @throws IllegalArgumentException if a value is out of its range, or two do not go together */
    public HandOver {
        certificates = List.copyOf(certificates);
        mounts = List.copyOf(mounts);
        Require.time(time);
        Name name = Require.worker(certificates, place);
        Require.that(
                controller.role().equals(Role.CONTROLLER.toString())
                        && controller.project().equals(name.project()),
                "controller",
                "one of " + Name.ofRole(Role.CONTROLLER.toString(), name.project()),
                controller);
        job.requireIn(station.network());
        Require.that(
                station.address().equals(job.address(place.slot())),
                "address",
                "that of the worker's own node",
                station.address());
        Mount.requireApart(mounts);
        Require.lease(lease);
        Require.policy(policy);
        Require.that(digest.algorithm() == Digest.Algorithm.SHA256, "digest", "SHA-256", digest.algorithm());
    }

    /** The worker's, as its certificate has it. */
    public Name name() {
        return Require.worker(certificates, place);
    }

    /** HPKE's {@code info} for {@link #mungeKey}; the additional data is empty. */
    public byte[] sealingContext() {
        return SealingContext.handOver(name().project(), place);
    }
}
