package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;

/**
 * Everything that a worker receives from its controlling VM, once per slot. Its values are consistent with each other;
 * the worker itself verifies that it is the target and that the certificate is for its key.
 *
 * @param certificates the worker's chain in DER, the leaf first
 * @param mungeKey sealed with {@link #sealingContext}
 * @param network the worker's network configuration: its address is its node's
 * @param controller the controlling VM that sends this; its address is the network's first
 * @param lease the time for which the worker runs without hearing from its controlling VM
 * @param policy SHA-384 of the owners' policy in force
 * @param digest SHA-256 of the ticket, which the worker's part of the receipt names
 */
public record HandoverDocument(
        HandoverTarget target,
        List<ByteString> certificates,
        SealedSecret mungeKey,
        Instant time,
        VmNetworkConfig network,
        CertificateName controller,
        WorkerJob job,
        WorkerAccounts accounts,
        List<WorkerMount> mounts,
        Duration lease,
        Digest policy,
        Digest digest)
        implements VerifierMessage {
    /** Lease that controlling VMs grant. */
    public static final Duration LEASE = Duration.ofHours(8);

    static final Duration LEAST_LEASE = Duration.ofMinutes(1);
    static final Duration MOST_LEASE = Duration.ofDays(7);

    /** @throws IllegalArgumentException if a value is out of its range, or two values are inconsistent */
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
        job.requireIn(network.network());
        HandoverChecks.that(
                network.address().equals(job.address(target.slot())),
                "address",
                "that of the worker's own node",
                network.address());
        WorkerMount.requireApart(mounts);
        HandoverChecks.lease(lease);
        HandoverChecks.policy(policy);
        HandoverChecks.that(digest.algorithm() == Digest.Algorithm.SHA256, "digest", "SHA-256", digest.algorithm());
    }

    /** Returns the worker's name, as its certificate has it. */
    public CertificateName name() {
        return HandoverChecks.worker(certificates, target);
    }

    /** Returns HPKE's {@code info} for {@link #mungeKey}; the additional data is empty. */
    public byte[] sealingContext() {
        return SealingContext.handOver(name().project(), target);
    }
}
