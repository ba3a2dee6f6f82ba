package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;

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
public record HandoverDocument(
        HandoverTarget target,
        List<ByteString> certificates,
        SealedSecret mungeKey,
        Instant time,
        VmNetworkConfig station,
        CertificateName controller,
        WorkerJob job,
        WorkerAccounts accounts,
        List<WorkerMount> mounts,
        Duration lease,
        Digest policy,
        Digest digest)
        implements VerifierMessage {
    /** That controlling VMs give. */
    public static final Duration LEASE = Duration.ofHours(8);

    static final Duration LEAST_LEASE = Duration.ofMinutes(1);
    static final Duration MOST_LEASE = Duration.ofDays(7);

    /** @throws IllegalArgumentException if a value is out of its range, or two do not go together */
    public HandoverDocument {
        certificates = List.copyOf(certificates);
        mounts = List.copyOf(mounts);
        HandoverChecks.time(time);
        CertificateName name = HandoverChecks.worker(certificates, target);
        HandoverChecks.that(
                controller.role().equals(CertificateRole.CONTROLLER.toString())
                        && controller.project().equals(name.project()),
                "controller",
                "one of " + CertificateName.ofRole(CertificateRole.CONTROLLER.toString(), name.project()),
                controller);
        job.requireIn(station.network());
        HandoverChecks.that(
                station.address().equals(job.address(target.slot())),
                "address",
                "that of the worker's own node",
                station.address());
        WorkerMount.requireApart(mounts);
        HandoverChecks.lease(lease);
        HandoverChecks.policy(policy);
        HandoverChecks.that(digest.algorithm() == Digest.Algorithm.SHA256, "digest", "SHA-256", digest.algorithm());
    }

    /** The worker's, as its certificate has it. */
    public CertificateName name() {
        return HandoverChecks.worker(certificates, target);
    }

    /** HPKE's {@code info} for {@link #mungeKey}; the additional data is empty. */
    public byte[] sealingContext() {
        return SealingContext.handOver(name().project(), target);
    }
}
