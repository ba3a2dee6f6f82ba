package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.address.HostPort;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;

/**
 * One owner's signed file from which a person's device learns all that it must know of a project; docs/protocol.md,
 * section 5. It contains no secret. Its owners' documents are verified; site, policy and certificate are bytes, which
 * their readers verify.
 *
 * @param issued in whole seconds; of two invitations of a project the later one applies
 * @param site certificates of the site's CA, in DER
 * @param relay {@code HOST:PORT}
 * @param policy the owners' policy in its envelope
 * @param certificate the person's, in DER; empty for an owner who has none
 */
public record ProjectInvitation(
        ProjectHistory owners,
        Instant issued,
        List<ByteString> site,
        String relay,
        ByteString policy,
        Optional<ByteString> certificate) {
    public static final String TYPE = "application/vnd.cloister.invitation.v1+json";
    /** Limit of an envelope, with documents of 1 MiB and a policy of 1.5 MiB, which base64 lengthens twice. */
    public static final int MAX_BYTES = 6 << 20;

    public static final int MAX_SITE_CERTIFICATES = 8;

    private static final String FORMAT = "cloister-invitation-v1";
    private static final int MAX_PAYLOAD = 4 << 20;
    private static final int MAX_POLICY = 1536 * 1024;
    private static final Pattern BASE64 = Pattern.compile("[A-Za-z0-9+/]+={0,2}");

    /** @throws IllegalArgumentException if a value is out of its range; the text names the value and the range */
    public ProjectInvitation {
        issued = issued.truncatedTo(ChronoUnit.SECONDS);
        site = List.copyOf(site);
        try {
            HostPort.parse(relay);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("relay: " + e.getMessage(), e);
        }
        if (site.isEmpty() || site.size() > MAX_SITE_CERTIFICATES) {
            throw new IllegalArgumentException(
                    "site: want 1 to " + MAX_SITE_CERTIFICATES + " certificates of the site's CA, have " + site.size());
        }
        site.forEach(each -> requireLength("site", each, CertificateChain.MAX_CERTIFICATE));
        requireLength("policy", policy, MAX_POLICY);
        certificate.ifPresent(each -> requireLength("certificate", each, CertificateChain.MAX_CERTIFICATE));
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("project", owners.id())
                .put("issued", issued.toString());
        ArrayNode documents = json.putArray("documents");
        owners.envelopes().forEach(each -> documents.add(BinaryText.base64(each)));
        ArrayNode certificates = json.putArray("site");
        site.forEach(each -> certificates.add(BinaryText.base64(each.toByteArray())));
        json.put("relay", relay).put("policy", BinaryText.base64(policy.toByteArray()));
        certificate.ifPresent(each -> json.put("certificate", BinaryText.base64(each.toByteArray())));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Parses an invitation and verifies that an owner of its project signed it. Which project that is, anybody can
     * choose: the reader compares the id.
     *
     * @throws IdentityRefusedException if no owner signed it, or its documents are not signed by the required owners
     */
    public static ProjectInvitation read(byte[] envelope) throws IOException {
        DsseEnvelope signed = DsseEnvelope.parse(envelope, MAX_BYTES);
        ProjectInvitation invitation = parse(signed.unverifiedPayload());
        try {
            signed.verify(TYPE, invitation.owners.ownerKeys(), 1);
        } catch (EnvelopeRefusedException e) {
            throw new IdentityRefusedException(
                    IdentityClause.SIGNATURES,
                    "invitation of " + invitation.owners.id(),
                    "the signature of an owner as " + TYPE,
                    String.valueOf(e.getMessage()),
                    "ask an owner for another");
        }
        return invitation;
    }

    private static ProjectInvitation parse(byte[] payload) throws IOException {
        StrictJson json = StrictJson.read(payload, MAX_PAYLOAD, MAX_PAYLOAD);
        json.requireFormat(FORMAT);
        String project = json.text("project", ProjectDocument.ID);
        ProjectHistory owners =
                ProjectHistory.of(decode(json, "documents", ProjectHistory.MAX_DOCUMENTS, ProjectDocument.MAX_BYTES));
        if (!owners.id().equals(project)) {
            throw new MalformedException("documents: want those of " + project + ", have those of " + owners.id());
        }
        List<byte[]> site = decode(json, "site", MAX_SITE_CERTIFICATES, CertificateChain.MAX_CERTIFICATE);
        Optional<ByteString> certificate = json.has("certificate")
                ? Optional.of(ByteString.copyFrom(json.base64("certificate", CertificateChain.MAX_CERTIFICATE)))
                : Optional.empty();
        Instant issued = json.time("issued");
        String relay = json.text("relay");
        ByteString policy = ByteString.copyFrom(json.base64("policy", MAX_POLICY));
        json.requireNothingCritical();
        try {
            return new ProjectInvitation(
                    owners, issued, site.stream().map(ByteString::copyFrom).toList(), relay, policy, certificate);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static List<byte[]> decode(StrictJson json, String key, int count, int length) throws MalformedException {
        List<byte[]> decoded = new ArrayList<>();
        for (String each : json.texts(key, count, BASE64)) {
            try {
                decoded.add(BinaryText.fromBase64(each, length));
            } catch (IllegalArgumentException e) {
                throw new MalformedException(key + "[" + decoded.size() + "]: " + e.getMessage(), e);
            }
        }
        return decoded;
    }

    private static void requireLength(String name, ByteString value, int most) {
        if (value.isEmpty() || value.size() > most) {
            throw new IllegalArgumentException(name + ": want 1 to " + most + " bytes, have " + value.size());
        }
    }
}
