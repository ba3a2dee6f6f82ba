package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.Digest;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.link.Credential;

/**
 * What a worker was given, checked and opened: all of the hand-over, and of what may be given anew the newest.
 *
 * @param certificates its chain in DER, the leaf first
 * @param earlier authorities that issued its certificates before, and may be those of its job's nodes still, in DER
 * @param from when the certificate was given, by the controlling VM's clock
 * @param until when it ends
 * @param own to show in later circuits
 * @param mungeKey in the clear, until munged has it
 * @param lease for which it goes on without hearing of its controlling VM
 * @param policy SHA-384 of the owners' policy in force
 */
record HandedOver(
        HandOver handOver,
        List<ByteString> certificates,
        List<ByteString> earlier,
        Instant from,
        Instant until,
        Credential own,
        SecretMemory mungeKey,
        Duration lease,
        Digest policy)
        implements AutoCloseable {
    HandedOver {
        certificates = List.copyOf(certificates);
        earlier = List.copyOf(earlier);
    }

    /** Whom it believes in tunnels, in DER: the authority of its own certificate first. */
    List<ByteString> authorities() {
        List<ByteString> all = new ArrayList<>();
        all.add(certificates.get(1));
        earlier.stream().filter(each -> !all.contains(each)).forEach(all::add);
        return all;
    }

    /** After this the certificate wants a newer one. */
    Duration renewal() {
        return Duration.between(from, until).dividedBy(2);
    }

    @Override
    public void close() {
        mungeKey.close();
    }
}
