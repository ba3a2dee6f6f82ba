package org.cloister.audit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.audit.AuditLogVerifier;
import org.cloister.protocol.audit.AuditSegment;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.audit.WitnessedAuditHead;
import org.cloister.protocol.dsse.SigningKey;

/** A relay's log, as several tests write and read it. */
final class RelayLogSamples {
    static final String RELAY = "r1.relay.site.cloister.internal";
    static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
    static final InstantSource CLOCK = InstantSource.fixed(NOON);

    private RelayLogSamples() {}

    static SigningKey key() throws GeneralSecurityException, IOException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return SigningKey.of(generator.generateKeyPair());
    }

    static AuditEvent event(long id) {
        return AuditEvent.of(NOON, "ticket.accepted")
                .numbered(id)
                .by("k".repeat(52))
                .with(AuditField.TICKET, "t".repeat(26))
                .with(AuditField.NODES, id);
    }

    static List<AuditEvent> events(long from, long to) {
        List<AuditEvent> events = new ArrayList<>();
        for (long id = from; id <= to; id++) {
            events.add(event(id));
        }
        return events;
    }

    /** Every segment's bytes by its file's name. */
    static Map<String, byte[]> read(Path folder) throws IOException {
        Map<String, byte[]> segments = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (AuditSegmentHeader.FILE
                        .matcher(file.getFileName().toString())
                        .matches()) {
                    segments.put(file.getFileName().toString(), Files.readAllBytes(file));
                }
            }
        }
        return segments;
    }

    static AuditVerification verify(Map<String, byte[]> segments, SigningKey key, Collection<SignedAuditHead> witnessed)
            throws IOException {
        List<AuditSegment> verified = new ArrayList<>();
        segments.forEach((name, bytes) -> verified.add(new AuditSegment(name, () -> new ByteArrayInputStream(bytes))));
        return new AuditLogVerifier(List.of(key.verificationKey()), 1)
                .verify(
                        verified,
                        witnessed.stream()
                                .map(each -> new WitnessedAuditHead(
                                        "witness", each.envelope().bytes()))
                                .toList());
    }
}
