package org.cloister.vm.controller.receipts;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.receipt.HandoverRecord;
import org.cloister.protocol.receipt.ReceiptBytes;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;

/**
 * Collected content of a receipt that is not written yet; the parts of its slots are kept in files beside it.
 *
 * @param digest of the ticket's payload
 * @param epoch of the start whose key signed the ticket
 * @param request the ticket, as an envelope
 * @param signer certificate chain of the ticket's signer
 * @param relay certificate chain of the signer of allocation and head; empty before the first message of a relay
 * @param audit an audit head of that relay
 * @param job of the Global Slurm; 0 while unknown
 * @param policy under which there were hand-overs
 */
record ReceiptDraft(
        String ticket,
        Digest digest,
        long epoch,
        ReceiptBytes request,
        List<ReceiptBytes> signer,
        List<ReceiptBytes> relay,
        Optional<ReceiptBytes> audit,
        long job,
        Optional<ReceiptBytes> allocation,
        Optional<Digest> policy,
        Optional<End> end) {
    /** Limit of the file: the longest allocation, and a margin. */
    static final int MAX_BYTES = 2 * Allocation.MAX_ENVELOPE;

    private static final String FORMAT = "cloister-vm-receipt-v1";
    private static final Pattern ENDS = Pattern.compile(TicketEnd.WORDS);

    /** @param time when this VM learned of it */
    record End(TicketEnd how, Instant time) {
        End {
            time = time.truncatedTo(ChronoUnit.SECONDS);
        }
    }

    ReceiptDraft {
        signer = List.copyOf(signer);
        relay = List.copyOf(relay);
    }

    /** Returns the relay's allocation, which was verified on arrival. */
    Allocation parseAllocation() throws IOException {
        return Allocation.parse(DsseEnvelope.parse(allocation.orElseThrow().bytes(), Allocation.MAX_ENVELOPE)
                .unverifiedPayload());
    }

    static ReceiptDraft start(Ticket ticket, byte[] envelope, List<byte[]> signer) {
        return new ReceiptDraft(
                ticket.id(),
                Digest.sha256(ticket.payload()),
                ticket.epoch(),
                ReceiptBytes.of(envelope),
                ReceiptBytes.all(signer),
                List.of(),
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    ReceiptDraft withRelay(List<ReceiptBytes> chain, ReceiptBytes head) {
        return new ReceiptDraft(
                ticket, digest, epoch, request, signer, chain, Optional.of(head), job, allocation, policy, end);
    }

    ReceiptDraft withJob(long now) {
        return new ReceiptDraft(ticket, digest, epoch, request, signer, relay, audit, now, allocation, policy, end);
    }

    ReceiptDraft withAllocation(ReceiptBytes allocationBytes) {
        return new ReceiptDraft(
                ticket, digest, epoch, request, signer, relay, audit, job, Optional.of(allocationBytes), policy, end);
    }

    ReceiptDraft withPolicy(Digest now) {
        return new ReceiptDraft(
                ticket, digest, epoch, request, signer, relay, audit, job, allocation, Optional.of(now), end);
    }

    ReceiptDraft withEnd(End now) {
        return new ReceiptDraft(
                ticket, digest, epoch, request, signer, relay, audit, job, allocation, policy, Optional.of(now));
    }

    static ReceiptDraft read(byte[] file) throws MalformedException {
        StrictJson json = StrictJson.read(file, MAX_BYTES, MAX_BYTES);
        json.requireFormat(FORMAT);
        ReceiptDraft draft = new ReceiptDraft(
                json.text("ticket", Ticket.ID),
                json.digest("digest", Digest.Algorithm.SHA256),
                json.number("epoch", 1, Ticket.MAX_COUNT),
                ReceiptBytes.read(json, "request", Ticket.MAX_BYTES),
                HandoverRecord.readChain(json, "signer"),
                json.has("relay") ? HandoverRecord.readChain(json, "relay") : List.of(),
                json.has("audit")
                        ? Optional.of(ReceiptBytes.read(json, "audit", AuditHead.MAX_BYTES))
                        : Optional.empty(),
                json.number("job", 0, Ticket.MAX_COUNT),
                json.has("allocation")
                        ? Optional.of(ReceiptBytes.read(json, "allocation", Allocation.MAX_ENVELOPE))
                        : Optional.empty(),
                json.has("policy") ? Optional.of(json.digest("policy", Digest.Algorithm.SHA384)) : Optional.empty(),
                json.has("end")
                        ? Optional.of(
                                new End(TicketEnd.of(json.text("end", ENDS)).orElseThrow(), json.time("ended")))
                        : Optional.empty());
        json.requireNothingElse();
        return draft;
    }

    byte[] write() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("ticket", ticket)
                .put("digest", digest.hex())
                .put("epoch", epoch)
                .put("request", request.base64())
                .put("job", job);
        HandoverRecord.writeChain(json, "signer", signer);
        if (!relay.isEmpty()) {
            HandoverRecord.writeChain(json, "relay", relay);
        }
        audit.ifPresent(head -> json.put("audit", head.base64()));
        allocation.ifPresent(envelope -> json.put("allocation", envelope.base64()));
        policy.ifPresent(hash -> json.put("policy", hash.hex()));
        end.ifPresent(now -> json.put("end", now.how.toString()).put("ended", now.time.toString()));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }
}
