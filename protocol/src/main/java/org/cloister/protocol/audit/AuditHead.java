package org.cloister.protocol.audit;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Signed statement of a relay about its whole log up to a record.
 *
 * @param relay its dNSName
 * @param log id of the log, from its first start
 * @param count number of records so far, which is the number of the last one
 * @param hash of the chain over every line before the head's own line
 */
public record AuditHead(String relay, String log, long count, Digest hash, Instant time) {
    public static final String TYPE = "application/vnd.cloister.audit-head.v1+json";
    /** Limit of the envelope with countersignatures. */
    public static final int MAX_BYTES = AuditRecord.MAX_LINE;

    static final Pattern RELAY = Pattern.compile("[a-z0-9.-]{1,253}");
    static final Pattern LOG = Pattern.compile("[a-z2-7]{26}");
    private static final String FORMAT = "cloister-audit-head-v1";

    public AuditHead {
        time = time.truncatedTo(ChronoUnit.SECONDS);
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("relay", relay)
                .put("log", log)
                .put("count", count)
                .put("hash", hash.hex())
                .put("time", time.toString())
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    public SignedAuditHead sign(SigningKey key) throws GeneralSecurityException {
        return new SignedAuditHead(this, DsseEnvelope.sign(TYPE, payload(), key));
    }

    /**
     * Verifies and parses a head.
     *
     * @throws org.cloister.protocol.dsse.EnvelopeRefusedException if none of the keys signed it
     */
    public static SignedAuditHead verify(DsseEnvelope envelope, Collection<VerificationKey> relay) throws IOException {
        return new SignedAuditHead(parse(envelope.verify(TYPE, relay, 1)), envelope);
    }

    static AuditHead parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        AuditHead head = new AuditHead(
                json.text("relay", RELAY),
                json.text("log", LOG),
                json.number("count", 1, AuditRecord.MAX_NUMBER),
                json.digest("hash", Digest.Algorithm.SHA256),
                json.time("time"));
        json.requireNothingCritical();
        return head;
    }
}
