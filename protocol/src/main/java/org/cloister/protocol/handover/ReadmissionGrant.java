package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.identity.CertificateName;

/**
 * Everything that a readmitted worker receives to replace what it has: a certificate for another day and, from a
 * controlling VM that was opened again, the new authority and munge key. The rest of its {@link HandoverDocument} stays
 * valid.
 *
 * @param target its nonce is the fresh value of the {@link VmMessage.Resume} that this answers
 * @param certificates the worker's chain in DER, the leaf first, for the same name and key
 * @param mungeKey sealed with {@link #sealingContext}; empty if the worker has it
 * @param policy SHA-384 of the owners' policy in force
 */
public record ReadmissionGrant(
        HandoverTarget target,
        List<ByteString> certificates,
        Optional<SealedSecret> mungeKey,
        Instant time,
        Duration lease,
        Digest policy)
        implements VerifierMessage {
    /** @throws IllegalArgumentException if a value is out of its range, or two values are inconsistent */
    public ReadmissionGrant {
        certificates = List.copyOf(certificates);
        HandoverChecks.time(time);
        HandoverChecks.worker(certificates, target);
        HandoverChecks.lease(lease);
        HandoverChecks.policy(policy);
    }

    /** Returns the worker's name, as its certificate has it. */
    public CertificateName name() {
        return HandoverChecks.worker(certificates, target);
    }

    /** Returns HPKE's {@code info} for {@link #mungeKey}; the additional data is empty. */
    public byte[] sealingContext() {
        return SealingContext.readmission(name().project(), target);
    }
}
