package org.cloister.vm.worker.steps;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.transport.tls.TlsCredential;

/**
 * A hand-over that was verified and opened, with the newest of all that a readmission can replace.
 *
 * @param certificates its chain in DER, the leaf first
 * @param earlierAuthorities authorities that issued its earlier certificates, and may still be those of its job's
 *     nodes, in DER
 * @param issuedAt when the certificate was issued, by the controlling VM's clock
 * @param expiresAt when the certificate expires
 * @param credential for later circuits
 * @param mungeKey in the clear, until munged has it
 * @param lease time for which the worker continues without an answer of its controlling VM
 * @param policy SHA-384 of the owners' policy in force
 */
public record AcceptedHandover(
        HandoverDocument handOver,
        List<ByteString> certificates,
        List<ByteString> earlierAuthorities,
        Instant issuedAt,
        Instant expiresAt,
        TlsCredential credential,
        SecretMemory mungeKey,
        Duration lease,
        Digest policy)
        implements AutoCloseable {
    public AcceptedHandover {
        certificates = List.copyOf(certificates);
        earlierAuthorities = List.copyOf(earlierAuthorities);
    }

    /**
     * Returns the authorities that the worker trusts in tunnels, in DER: the authority of its own certificate first.
     */
    public List<ByteString> authorities() {
        List<ByteString> all = new ArrayList<>();
        all.add(certificates.get(1));
        earlierAuthorities.stream().filter(each -> !all.contains(each)).forEach(all::add);
        return all;
    }

    /** Returns the time after which the certificate is due for renewal. */
    public Duration renewalDelay() {
        return Duration.between(issuedAt, expiresAt).dividedBy(2);
    }

    @Override
    public void close() {
        mungeKey.close();
    }
}
