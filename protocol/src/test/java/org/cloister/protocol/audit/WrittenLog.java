package org.cloister.protocol.audit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;

/** A log in memory, a segment of it, written as the document says. */
final class WrittenLog {
    static final String RELAY = "r1.relay.site.cloister.internal";
    static final String LOG = "a".repeat(26);
    static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

    private final SigningKey key;
    private final String log;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final HashChain chain = new HashChain(HashChain.EMPTY);
    private long count;

    WrittenLog(SigningKey key) {
        this(key, LOG);
    }

    WrittenLog(SigningKey key, String log) {
        this.key = key;
        this.log = log;
        add(new SegmentStart(RELAY, log, 1, HashChain.EMPTY, 0, key.verificationKey()).line());
    }

    static SigningKey key(Curve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new AssertionError(e);
        }
    }

    SignedHead group(AuditEvent... events) throws GeneralSecurityException {
        for (AuditEvent event : events) {
            add(AuditRecord.of(++count, event).line());
        }
        SignedHead head = new AuditHead(RELAY, log, count, chain.value(), NOON).sign(key);
        add(head.envelope().bytes());
        return head;
    }

    void add(byte[] line) {
        chain.add(line);
        bytes.writeBytes(line);
        bytes.write('\n');
    }

    Segment segment() {
        byte[] all = bytes.toByteArray();
        return new Segment("segment", () -> new ByteArrayInputStream(all));
    }
}
