package org.cloister.protocol.receipt;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;

/**
 * Collection of signed statements about one ticket; docs/protocol.md, section 15. An existing object is well-formed and
 * not verified: {@link ReceiptVerifier} verifies it.
 *
 * @param digest of the ticket's payload
 * @param request the ticket, as an envelope
 * @param requester the chain of the ticket's signer; empty if the receipt's own signer signed it
 * @param controller the chain of the receipt's signer
 * @param relay the chain of the signer of allocation and audit head
 * @param globalJob empty if the ticket had none
 * @param allocation an envelope; empty if the ticket never had nodes
 * @param policy SHA-384 of the owners' policy in force, as {@link ProjectPolicy#hash}; empty if nothing was handed over
 * @param audit the newest head of the relay's audit chain, as an envelope
 * @param documents the project's, from its genesis on; may be empty
 */
public record Receipt(
        String project,
        String ticket,
        Digest digest,
        ReceiptBytes request,
        List<ReceiptBytes> requester,
        List<ReceiptBytes> controller,
        List<ReceiptBytes> relay,
        Optional<Long> globalJob,
        Optional<ReceiptBytes> allocation,
        List<ReceiptSlot> slots,
        Optional<Digest> policy,
        TicketEnd end,
        Instant ended,
        Instant issued,
        ReceiptBytes audit,
        List<ReceiptBytes> documents) {
    public static final String TYPE = InTotoStatement.TYPE;
    public static final String PREDICATE = "urn:cloister:receipt:v1";
    /** Payload type of the audit head. */
    public static final String AUDIT_HEAD = "application/vnd.cloister.audit-head.v1+json";
    /** Limit of the payload in bytes: 4,096 slots with about 11 KiB each, and an allocation. */
    public static final int MAX_BYTES = 64 << 20;
    /** Limit of the envelope in bytes: the payload in base64, and signatures. */
    public static final int MAX_ENVELOPE = 96 << 20;

    public static final int MAX_DOCUMENTS = 16;

    private static final int MAX_AUDIT = 8 * 1024;
    private static final int MAX_STRING = 2 * Allocation.MAX_ENVELOPE;
    private static final Pattern ENDS = Pattern.compile(TicketEnd.WORDS);

    public Receipt {
        requester = List.copyOf(requester);
        controller = List.copyOf(controller);
        relay = List.copyOf(relay);
        slots = List.copyOf(slots);
        documents = List.copyOf(documents);
        ended = ended.truncatedTo(ChronoUnit.SECONDS);
        issued = issued.truncatedTo(ChronoUnit.SECONDS);
        for (int i = 0; i < slots.size(); i++) {
            if (slots.get(i).slot() != i) {
                throw new IllegalArgumentException("slots[" + i + "].slot: want " + i + ", have "
                        + slots.get(i).slot());
            }
        }
    }

    /**
     * Parses a receipt.
     *
     * @param payload of an envelope that was verified, or is about to be
     */
    public static Receipt parse(byte[] payload) throws MalformedException {
        InTotoStatement frame = InTotoStatement.read(payload, PREDICATE, MAX_BYTES, MAX_STRING);
        StrictJson json = frame.predicate();
        List<ReceiptSlot> slots = new ArrayList<>();
        if (json.has("slots")) {
            for (StrictJson each : json.objects("slots", ResourceRequest.MAX_NODES)) {
                slots.add(ReceiptSlot.read(each));
            }
        }
        try {
            Receipt receipt = new Receipt(
                    json.text("project", ProjectPolicy.PROJECT),
                    frame.ticket(),
                    frame.digest(),
                    ReceiptBytes.read(json, "request", Ticket.MAX_BYTES),
                    json.has("requester") ? HandoverRecord.readChain(json, "requester") : List.of(),
                    HandoverRecord.readChain(json, "controller"),
                    HandoverRecord.readChain(json, "relay"),
                    json.has("globalJob")
                            ? Optional.of(json.number("globalJob", 1, Ticket.MAX_COUNT))
                            : Optional.empty(),
                    json.has("allocation")
                            ? Optional.of(ReceiptBytes.read(json, "allocation", Allocation.MAX_ENVELOPE))
                            : Optional.empty(),
                    slots,
                    json.has("policy") ? Optional.of(json.digest("policy", Digest.Algorithm.SHA384)) : Optional.empty(),
                    TicketEnd.of(json.text("end", ENDS)).orElseThrow(),
                    json.time("ended"),
                    json.time("issued"),
                    ReceiptBytes.read(json, "audit", MAX_AUDIT),
                    json.has("documents")
                            ? ReceiptBytes.readAll(json, "documents", MAX_DOCUMENTS, ProjectDocument.MAX_BYTES)
                            : List.of());
            frame.requireNothingCritical();
            return receipt;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        ObjectNode json =
                JsonNodeFactory.instance.objectNode().put("project", project).put("request", request.base64());
        if (!requester.isEmpty()) {
            HandoverRecord.writeChain(json, "requester", requester);
        }
        HandoverRecord.writeChain(json, "controller", controller);
        HandoverRecord.writeChain(json, "relay", relay);
        globalJob.ifPresent(job -> json.put("globalJob", job));
        allocation.ifPresent(value -> json.put("allocation", value.base64()));
        if (!slots.isEmpty()) {
            slots.forEach(each -> each.write(json.withArray("slots").addObject()));
        }
        policy.ifPresent(hash -> json.put("policy", hash.hex()));
        json.put("end", end.toString())
                .put("ended", ended.toString())
                .put("issued", issued.toString())
                .put("audit", audit.base64());
        if (!documents.isEmpty()) {
            HandoverRecord.writeChain(json, "documents", documents);
        }
        return InTotoStatement.write(ticket, digest, PREDICATE, json);
    }

    /**
     * Signs the receipt.
     *
     * @param key the controlling VM's
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }
}
