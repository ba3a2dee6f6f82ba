package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.Digest;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
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
        Digest policy)
        implements VerifierMessage {
    static final Duration LEAST_LEASE = Duration.ofMinutes(1);
    static final Duration MOST_LEASE = Duration.ofDays(7);

    /** @throws IllegalArgumentException if a value is out of its range, or two do not go together */
    public HandOver {
        certificates = List.copyOf(certificates);
        mounts = List.copyOf(mounts);
        Require.time(time);
        Name name = claimed(certificates);
        Require.that(
                name.equals(SlotName.of(place.ticket(), place.slot(), Role.WORKER, name.project())),
                "certificate",
                "one of the worker " + SlotName.label(place.ticket(), place.slot()),
                name);
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
        Require.within("lease", lease.toSeconds(), LEAST_LEASE.toSeconds(), MOST_LEASE.toSeconds());
        Require.that(policy.algorithm() == Digest.Algorithm.SHA384, "policy", "SHA-384", policy.algorithm());
    }

    /** The worker's, as its certificate has it. */
    public Name name() {
        return claimed(certificates);
    }

    /** HPKE's {@code info} for {@link #mungeKey}; the additional data is empty. */
    public byte[] sealingContext() {
        return SealingContext.handOver(name().project(), place);
    }

    private static Name claimed(List<ByteString> certificates) {
        Require.that(certificates.size() > 1, "certificates", "a leaf and its authorities", certificates.size());
        try {
            return Chain.parse(
                            certificates.stream().map(ByteString::toByteArray).toList())
                    .claimed();
        } catch (IdentityRefused e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }
}
