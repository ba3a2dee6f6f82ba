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
 * What a worker was given, checked and opened: all of the hand-over, and of what may be given anew the newest.
 *
 * @param certificates its chain in DER, the leaf first
 * @param earlierAuthorities authorities that issued its certificates before, and may be those of its job's nodes still,
 *     in DER
 * @param issuedAt when the certificate was given, by the controlling VM's clock
 * @param expiresAt when it ends
 * @param credential to show in later circuits
 * @param mungeKey in the clear, until munged has it
 * @param lease for which it goes on without hearing of its controlling VM
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

    /** Whom it believes in tunnels, in DER: the authority of its own certificate first. */
    public List<ByteString> authorities() {
        List<ByteString> all = new ArrayList<>();
        all.add(certificates.get(1));
        earlierAuthorities.stream().filter(each -> !all.contains(each)).forEach(all::add);
        return all;
    }

    /** After this the certificate wants a newer one. */
    public Duration renewalDelay() {
        return Duration.between(issuedAt, expiresAt).dividedBy(2);
    }

    @Override
    public void close() {
        mungeKey.close();
    }
}
