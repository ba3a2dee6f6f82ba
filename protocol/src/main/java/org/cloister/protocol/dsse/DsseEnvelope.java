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
 * A signed object: a DSSE envelope, version 1 (github.com/secure-systems-lab/dsse). Its payload is handed out only by
 * {@link #verify}, so nobody parses what nobody signed.
 */
public final class DsseEnvelope {
    /** More than owners, members and witnesses of anything; each costs a verification. */
    public static final int MAX_SIGNATURES = 32;

    private static final Pattern TYPE = Pattern.compile("[!-~]{1,128}");
    private static final Pattern KEY_ID = Pattern.compile("[ -~]{0,128}");
    /** Keys that a refusal names. */
    private static final int MAX_NAMED = 8;
    /** Enough for RSA-4096: others' envelopes may carry what we skip. */
    private static final int MAX_SIGNATURE = 512;

    private final String type;
    private final byte[] payload;
    private final List<Entry> entries;
    private final byte[] bytes;

    private static final class Entry {
        /** A hint, which nobody signed. */
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

    /** @param maxBytes of the envelope; a longer one is refused unread */
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

    /** A new envelope with one signature. */
    public static DsseEnvelope sign(String type, byte[] payload, SigningKey key) throws GeneralSecurityException {
        if (!TYPE.matcher(type).matches()) {
            throw new IllegalArgumentException("payload type \"" + type + "\": want " + TYPE);
        }
        return of(type, payload.clone(), List.of(entry(type, payload, key)));
    }

    /**
     * The same payload with one more signature behind the others. The bytes of the envelope are written anew, and what its
     * author added beside the format is not; the payload's are the same.
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

    /** What it says it holds; signed, but not yet verified. */
    public String payloadType() {
        return type;
    }

    /** The envelope, exactly as it came or was made. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * Of the payload alone, so that it is the same whoever signs. Never an id by the digest of an envelope: every ECDSA
     * signature has a second form that anybody can make.
     */
    public Digest payloadSha256() {
        return Digest.sha256(payload);
    }

    /**
     * The payload, once that many of the keys have signed it as that type. A key counts once, however often it signed;
     * signatures of others do no harm.
     *
     * @param threshold at least 1; more than there are keys is always refused
     * @return the exact bytes that were signed
     */
    public byte[] verify(String wantedType, Collection<VerificationKey> keys, int threshold)
            throws EnvelopeRefusedException {
        if (threshold < 1) {
            throw new IllegalArgumentException("threshold: want at least 1, have " + threshold);
        }
        Set<VerificationKey> signers = signers(wantedType, keys);
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
     * Those of the keys that signed this as that type, in the envelope's order.
     *
     * @throws EnvelopeRefusedException if it holds another type, before any key is tried
     */
    public Set<VerificationKey> signers(String wantedType, Collection<VerificationKey> keys)
            throws EnvelopeRefusedException {
        if (!type.equals(wantedType)) {
            throw new EnvelopeRefusedException(
                    EnvelopeRefusedException.Reason.OTHER_TYPE,
                    "payload type: want " + wantedType + ", have " + type + "; give the right document");
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

    /** PAE, what is signed. */
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
