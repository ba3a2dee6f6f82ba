package org.cloister.protocol.ticket;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;

/**
 * Controlling VM's answer to a relay's challenge, which proves who requests tickets on this stream; docs/protocol.md,
 * section 13.
 *
 * @param relay the one that sent the challenge, so that no other relay accepts the answer
 * @param nonce base64 of its 32 bytes
 */
public record TicketStreamProof(String relay, String nonce) {
    public static final String TYPE = "application/vnd.cloister.ticket-stream.v1+json";
    public static final int NONCE_BYTES = 32;
    /** Limit in bytes of the payload, and of its envelope. */
    public static final int MAX_BYTES = 2 * 1024;

    private static final String FORMAT = "cloister-ticket-stream-v1";
    private static final Pattern RELAY = Pattern.compile("[a-z0-9.-]{1,255}");

    public static TicketStreamProof of(String relay, byte[] nonce) {
        return new TicketStreamProof(relay, BinaryText.base64(nonce));
    }

    /**
     * Parses a proof.
     *
     * @param payload of an envelope that was verified
     */
    public static TicketStreamProof parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        TicketStreamProof proof = TicketStreamProof.of(json.text("relay", RELAY), json.base64("nonce", NONCE_BYTES));
        json.requireNothingCritical();
        return proof;
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("relay", relay)
                .put("nonce", nonce)
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Signs the proof.
     *
     * @param key the controlling VM's
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }
}
