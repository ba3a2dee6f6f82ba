package org.cloister.protocol.dsse;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Signed object: a DSSE envelope, version 1 (github.com/secure-systems-lab/dsse). {@link #verify} returns its payload.
 * {@link #unverifiedPayload} is the one other way to it.
 */
public final class DsseEnvelope {
    /**
     * Limit of signatures, above the number of owners, members and witnesses of any object; each costs a verification.
     */
    public static final int MAX_SIGNATURES = 32;

    private static final Pattern TYPE = Pattern.compile("[!-~]{1,128}");
    private static final Pattern KEY_ID = Pattern.compile("[ -~]{0,128}");
    /** Limit of keys that a refusal names. */
    private static final int MAX_NAMED = 8;
    /** Limit of a signature in bytes, enough for RSA-4096: envelopes of others may have signatures that we skip. */
    private static final int MAX_SIGNATURE = 512;

    private final String type;
    private final byte[] payload;
    private final List<Entry> entries;
    private final byte[] bytes;

    private static final class Entry {
        /** A hint, which is not signed. */
        final String keyId;

        final byte[] signature;

        Entry(String keyId, byte[] signature) {
            this.keyId = keyId;
            this.signature = signature;
        }
    }

    private DsseEnvelope(String type, byte[] payload, List<Entry> entries, byte[] bytes) {
        this.type = type;
        this.payload = payload;
        this.entries = List.copyOf(entries);
        this.bytes = bytes;
    }

    /**
     * Parses an envelope without verifying it.
     *
     * @param maxBytes limit of the envelope; a longer one is rejected unread
     */
    public static DsseEnvelope parse(byte[] document, int maxBytes) throws MalformedException {
        StrictJson json = StrictJson.read(document, maxBytes, maxBytes);
        String type = json.text("payloadType", TYPE);
        byte[] payload = json.base64InEitherAlphabet("payload", maxBytes);
        List<Entry> entries = new ArrayList<>();
        for (StrictJson each : json.objects("signatures", MAX_SIGNATURES)) {
            String keyId = each.has("keyid") ? each.text("keyid", KEY_ID) : "";
            entries.add(new Entry(keyId, each.base64InEitherAlphabet("sig", MAX_SIGNATURE)));
        }
        return new DsseEnvelope(type, payload, entries, document.clone());
    }

    /** Creates an envelope with one signature. */
    public static DsseEnvelope sign(String type, byte[] payload, SigningKey key) throws GeneralSecurityException {
        if (!TYPE.matcher(type).matches()) {
            throw new IllegalArgumentException("payload type \"" + type + "\": want " + TYPE);
        }
        return of(type, payload.clone(), List.of(entry(type, payload, key)));
    }

    /**
     * Returns an envelope of the same payload with one more signature after the others. The payload's bytes stay the
     * same; the envelope's bytes are written again, without what its author added beside the format.
     */
    public DsseEnvelope countersign(SigningKey key) throws GeneralSecurityException {
        if (entries.size() == MAX_SIGNATURES) {
            throw new IllegalArgumentException(
                    "envelope: want at most " + MAX_SIGNATURES + " signatures, have as many");
        }
        List<Entry> more = new ArrayList<>(entries);
        more.add(entry(type, payload, key));
        return of(type, payload, more);
    }

    /** Returns the claimed type of the payload, which is signed but not yet verified. */
    public String payloadType() {
        return type;
    }

    /** Returns the envelope exactly as it was received or created. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * Returns the payload without verifying a signature: to find the signer or the request that it names, or from an
     * own store whose envelopes were verified before they were written.
     */
    public byte[] unverifiedPayload() {
        return payload.clone();
    }

    /**
     * Returns the digest of the payload alone, which is the same for every signer. Never use the digest of an envelope
     * as an id: every ECDSA signature has a second form that anyone can compute.
     */
    public Digest payloadSha256() {
        return Digest.sha256(payload);
    }

    /**
     * Returns the payload after verifying that at least {@code threshold} of the keys signed it as that type. A key
     * counts once, however often it signed; signatures of other keys are ignored.
     *
     * @param threshold at least 1; a threshold above the number of keys is always refused
     * @return the exact bytes that were signed
     */
    public byte[] verify(String expectedType, Collection<VerificationKey> keys, int threshold)
            throws EnvelopeRefusedException {
        if (threshold < 1) {
            throw new IllegalArgumentException("threshold: want at least 1, have " + threshold);
        }
        Set<VerificationKey> signers = signers(expectedType, keys);
        if (signers.size() < threshold) {
            Set<VerificationKey> others = new LinkedHashSet<>(keys);
            int all = others.size();
            others.removeAll(signers);
            String more =
                    others.stream().limit(MAX_NAMED).map(VerificationKey::id).collect(Collectors.joining(", "));
            throw new EnvelopeRefusedException(
                    EnvelopeRefusedException.Reason.TOO_FEW_SIGNATURES,
                    type + ": want signatures of " + threshold + " of " + all + " keys, have " + signers.size()
                            + " that hold of " + entries.size() + " there; have it signed by "
                            + (threshold - signers.size()) + " more of " + more
                            + (others.size() > MAX_NAMED ? " and " + (others.size() - MAX_NAMED) + " others" : ""));
        }
        return payload.clone();
    }

    /**
     * Returns the keys that signed this envelope as that type, in the envelope's order.
     *
     * @throws EnvelopeRefusedException if the payload has another type, before any key is tried
     */
    public Set<VerificationKey> signers(String expectedType, Collection<VerificationKey> keys)
            throws EnvelopeRefusedException {
        if (!type.equals(expectedType)) {
            throw new EnvelopeRefusedException(
                    EnvelopeRefusedException.Reason.OTHER_TYPE,
                    "payload type: want " + expectedType + ", have " + type + "; give the right document");
        }
        Map<String, VerificationKey> byId = new LinkedHashMap<>();
        keys.forEach(key -> byId.put(key.id(), key));
        byte[] signed = preAuthenticationEncoding(type, payload);
        Set<VerificationKey> signers = new LinkedHashSet<>();
        for (Entry entry : entries) {
            VerificationKey key = byId.get(entry.keyId);
            if (key != null && !signers.contains(key) && key.verifies(signed, entry.signature)) {
                signers.add(key);
            }
        }
        return signers;
    }

    /** Returns DSSE's pre-authentication encoding (PAE), which is what is signed. */
    static byte[] preAuthenticationEncoding(String type, byte[] body) {
        byte[] name = type.getBytes(StandardCharsets.UTF_8);
        byte[] head = ("DSSEv1 " + name.length + " " + type + " " + body.length + " ").getBytes(StandardCharsets.UTF_8);
        byte[] encoded = Arrays.copyOf(head, head.length + body.length);
        System.arraycopy(body, 0, encoded, head.length, body.length);
        return encoded;
    }

    private static Entry entry(String type, byte[] payload, SigningKey key) throws GeneralSecurityException {
        byte[] signed = preAuthenticationEncoding(type, payload);
        byte[] signature = key.sign(signed);
        if (!key.verificationKey().verifies(signed, signature)) {
            throw new GeneralSecurityException("signature of " + type + ": key " + key.verificationKey()
                    + " does not verify what was signed in its name; look for the private key that belongs to it");
        }
        return new Entry(key.verificationKey().id(), signature);
    }

    private static DsseEnvelope of(String type, byte[] payload, List<Entry> entries) {
        StringBuilder json = new StringBuilder("{\"payload\":\"")
                .append(BinaryText.base64(payload))
                .append("\",\"payloadType\":")
                .append(StrictJson.literal(type))
                .append(",\"signatures\":[");
        for (int i = 0; i < entries.size(); i++) {
            json.append(i == 0 ? "" : ",")
                    .append("{\"keyid\":")
                    .append(StrictJson.literal(entries.get(i).keyId))
                    .append(",\"sig\":\"")
                    .append(BinaryText.base64(entries.get(i).signature))
                    .append("\"}");
        }
        return new DsseEnvelope(
                type, payload, entries, json.append("]}").toString().getBytes(StandardCharsets.UTF_8));
    }
}
