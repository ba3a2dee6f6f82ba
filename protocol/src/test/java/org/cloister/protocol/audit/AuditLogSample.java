package org.cloister.protocol.audit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;

/** A log in memory, a segment of it, written as the document says. */
public final class AuditLogSample {
    static final String RELAY = "r1.relay.site.cloister.internal";
    static final String LOG = "a".repeat(26);
    public static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

    private final SigningKey key;
    private final String log;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final AuditHashChain chain = new AuditHashChain(AuditHashChain.EMPTY);
    private long count;

    public AuditLogSample(SigningKey key) {
        this(key, LOG);
    }

    public AuditLogSample(SigningKey key, String log) {
        this.key = key;
        this.log = log;
        add(new AuditSegmentHeader(RELAY, log, 1, AuditHashChain.EMPTY, 0, key.verificationKey()).line());
    }

    public static SigningKey key(SignatureCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new AssertionError(e);
        }
    }

    public SignedAuditHead group(AuditEvent... events) throws GeneralSecurityException {
        for (AuditEvent event : events) {
            add(AuditRecord.of(++count, event).line());
        }
        SignedAuditHead head = new AuditHead(RELAY, log, count, chain.value(), NOON).sign(key);
        add(head.envelope().bytes());
        return head;
    }

    void add(byte[] line) {
        chain.add(line);
        bytes.writeBytes(line);
        bytes.write('\n');
    }

    public AuditSegment segment() {
        byte[] all = bytes.toByteArray();
        return new AuditSegment("segment", () -> new ByteArrayInputStream(all));
    }
}
