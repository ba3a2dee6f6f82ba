package org.cloister.protocol.evidence;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;

/**
 * Statement of a host about one life of one VM; docs/protocol.md, section 11.
 *
 * @param host the host's name, for people; the signature identifies the host
 * @param issued by the host's clock, for people and the audit; it defends against nothing
 */
public record EvidenceStatement(
        String host, VmFacts facts, AttestationClaims claim, Instant issued, List<PlatformEvidence> attachments) {
    public static final String TYPE = "application/vnd.cloister.evidence.v1+json";
    public static final String FORMAT = "cloister-evidence-v1";
    /** Holds four attachments and the other members. */
    public static final int MAX_BYTES = 128 * 1024;

    public static final int MAX_ATTACHMENTS = 4;
    /** A report of 1,184 bytes with three certificates needs half of it. */
    public static final int MAX_ATTACHMENT = 12 * 1024;

    private static final Pattern ATTACHMENT = Pattern.compile("[a-z0-9][a-z0-9-]{0,31}");

    public EvidenceStatement {
        issued = issued.truncatedTo(ChronoUnit.SECONDS);
        attachments = List.copyOf(attachments);
    }

    /**
     * Parses a statement.
     *
     * @param payload of an envelope that was verified
     */
    public static EvidenceStatement parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        String host = json.text("host", AcceptedHost.NAME);
        StrictJson shape = json.object("shape");
        StrictJson keys = json.object("keys");
        StrictJson binding = json.object("binding");
        try {
            EvidenceStatement statement = new EvidenceStatement(
                    host,
                    new VmFacts(
                            json.text("project", ProjectPolicy.PROJECT),
                            json.text("vm", VmFacts.ID),
                            VmRole.read(json, "role"),
                            json.text("ticket", VmFacts.ID),
                            json.number("slot", 0, VmFacts.MAX_SLOT),
                            json.digest("image", Digest.Algorithm.SHA384),
                            VmShape.read(shape),
                            HostSharing.read(json, "sharing")),
                    new AttestationClaims(
                            new BootPublicKeys(
                                    AcceptedHost.readKey(keys, "signing"), AcceptedHost.readKey(keys, "sealing")),
                            new Nonce(json.text("nonce")),
                            readBinding(binding)),
                    json.time("issued"),
                    readAttachments(json));
            keys.requireNothingCritical();
            binding.requireNothingCritical();
            json.requireNothingCritical();
            return statement;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /**
     * Returns what a host's statement claims, for the VM that it describes: the VM has no key to verify it and trusts
     * nothing in it.
     */
    public static EvidenceStatement claimed(DsseEnvelope envelope) throws MalformedException {
        return parse(envelope.unverifiedPayload());
    }

    /** Returns the payload to sign. */
    public byte[] json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("format", FORMAT).put("project", facts.project()).put("host", host);
        json.put("vm", facts.vm()).put("role", facts.role().toString());
        json.put("ticket", facts.ticket()).put("slot", facts.slot());
        json.put("image", facts.image().hex());
        facts.shape().write(json.putObject("shape"));
        json.put("sharing", facts.sharing().toString());
        json.putObject("keys")
                .put("signing", BinaryText.base64(claim.keys().signing().encoded()))
                .put("sealing", BinaryText.base64(claim.keys().sealing().encoded()));
        json.put("nonce", claim.nonce().base64());
        json.putObject("binding")
                .put("type", CircuitBinding.TYPE)
                .put("value", claim.binding().base64());
        json.put("issued", issued.toString());
        if (!attachments.isEmpty()) {
            ArrayNode list = json.putArray("attachments");
            attachments.forEach(
                    each -> list.addObject().put("type", each.type()).put("data", each.base64()));
        }
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static CircuitBinding readBinding(StrictJson json) throws MalformedException {
        json.text("type", Pattern.compile(CircuitBinding.TYPE));
        byte[] value = json.base64("value", CircuitBinding.BYTES);
        if (value.length != CircuitBinding.BYTES) {
            throw new MalformedException(
                    "binding.value: want " + CircuitBinding.BYTES + " bytes, have " + value.length);
        }
        return new CircuitBinding(Digest.of(Digest.Algorithm.SHA384, value));
    }

    private static List<PlatformEvidence> readAttachments(StrictJson json) throws MalformedException {
        List<PlatformEvidence> attachments = new ArrayList<>();
        if (json.has("attachments")) {
            for (StrictJson each : json.objects("attachments", MAX_ATTACHMENTS)) {
                String type = each.text("type", ATTACHMENT);
                attachments.add(new PlatformEvidence(type, BinaryText.base64(each.base64("data", MAX_ATTACHMENT))));
                each.requireNothingCritical();
            }
        }
        return attachments;
    }
}
