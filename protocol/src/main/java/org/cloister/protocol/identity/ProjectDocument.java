package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;

/**
 * Content of a genesis or successor document; docs/protocol.md, section 5. {@link ProjectHistory} verifies its signers.
 *
 * @param project the id
 * @param number 0 is the genesis
 * @param previous the id of the payload before this one; for a genesis its own
 */
public record ProjectDocument(String project, int number, String previous, Instant created, ProjectOwners owners) {
    public static final String GENESIS = "application/vnd.cloister.genesis.v1+json";
    public static final String SUCCESSOR = "application/vnd.cloister.successor.v1+json";
    /** Limit in bytes, also of the envelope. */
    public static final int MAX_BYTES = 64 * 1024;

    /** Pattern of SHA-256 in base32: 256 bits, and four bits of padding. */
    public static final Pattern ID = Pattern.compile("[a-z2-7]{51}[aq]");

    static final int MAX_NUMBER = 1_000;

    private static final String GENESIS_FORMAT = "cloister-genesis-v1";
    private static final String SUCCESSOR_FORMAT = "cloister-successor-v1";
    private static final int NONCE = 16;

    /** Returns the payload of a new project. */
    public static byte[] genesis(ProjectOwners owners, Instant now, SecureRandom random) {
        byte[] nonce = new byte[NONCE];
        random.nextBytes(nonce);
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", GENESIS_FORMAT)
                .put("created", now.truncatedTo(ChronoUnit.SECONDS).toString())
                .put("nonce", BinaryText.base64(nonce));
        owners.write(json);
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the payload of the next document. */
    static byte[] successor(String project, int number, String previous, ProjectOwners owners, Instant now) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", SUCCESSOR_FORMAT)
                .put("project", project)
                .put("number", number)
                .put("previous", previous)
                .put("created", now.truncatedTo(ChronoUnit.SECONDS).toString());
        owners.write(json);
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns what an envelope claims, for a person who reads it before they sign it: no signature is verified. */
    public static ProjectDocument unverified(DsseEnvelope envelope) throws MalformedException {
        byte[] payload = envelope.unverifiedPayload();
        return switch (envelope.payloadType()) {
            case GENESIS -> parseGenesis(payload);
            case SUCCESSOR -> parseSuccessor(payload);
            default ->
                throw new MalformedException(
                        "payload type: want " + GENESIS + " or " + SUCCESSOR + ", have " + envelope.payloadType());
        };
    }

    static ProjectDocument parseGenesis(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(GENESIS_FORMAT);
        int nonce = json.base64("nonce", NONCE).length;
        if (nonce != NONCE) {
            throw new MalformedException("nonce: want " + NONCE + " bytes, have " + nonce);
        }
        String id = idOf(payload);
        ProjectDocument document = new ProjectDocument(id, 0, id, json.time("created"), ProjectOwners.read(json));
        json.requireNothingCritical();
        return document;
    }

    static ProjectDocument parseSuccessor(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(SUCCESSOR_FORMAT);
        ProjectDocument document = new ProjectDocument(
                json.text("project", ID),
                (int) json.number("number", 1, MAX_NUMBER),
                json.text("previous", ID),
                json.time("created"),
                ProjectOwners.read(json));
        json.requireNothingCritical();
        return document;
    }

    /** Returns the SHA-256 of a payload in base32; a genesis' is the project's id. */
    static String idOf(byte[] payload) {
        try {
            return BinaryText.base32(MessageDigest.getInstance("SHA-256").digest(payload));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no SHA-256", e);
        }
    }
}
