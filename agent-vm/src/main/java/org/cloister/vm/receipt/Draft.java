package org.cloister.vm.receipt;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.receipt.Binary;
import org.cloister.protocol.receipt.HandOver;
import org.cloister.protocol.receipt.ReceiptVerifier;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;

/**
 * What is known so far of a ticket whose receipt is not written yet; its slots are kept beside it.
 *
 * @param digest of the ticket's payload
 * @param epoch of the start whose key signed it
 * @param request the ticket, as an envelope
 * @param signer the chain of who signed it
 * @param relay the chain of who signed allocation and head; empty while no relay has said anything
 * @param audit a head of that relay's
 * @param job of Global Slurm; 0 while there is none
 * @param policy under which there were hand-overs
 */
record Draft(
        String ticket,
        Digest digest,
        long epoch,
        Binary request,
        List<Binary> signer,
        List<Binary> relay,
        Optional<Binary> audit,
        long job,
        Optional<Binary> allocation,
        Optional<Digest> policy,
        Optional<End> end) {
    /** Of the file: the longest allocation, and some more. */
    static final int MAX_BYTES = 2 * Allocation.MAX_ENVELOPE;

    private static final String FORMAT = "cloister-vm-receipt-v1";
    private static final Pattern ENDS = Pattern.compile(TicketEnd.WORDS);

    /** @param time when this VM was told */
    record End(TicketEnd how, Instant time) {
        End {
            time = time.truncatedTo(ChronoUnit.SECONDS);
        }
    }

    Draft {
        signer = List.copyOf(signer);
        relay = List.copyOf(relay);
    }

    /** What the relay gave, which was verified when it came. */
    Allocation allocated() throws IOException {
        return Allocation.parse(
                ReceiptVerifier.claimedPayload(allocation.orElseThrow().bytes(), Allocation.MAX_ENVELOPE));
    }

    static Draft begun(Ticket ticket, byte[] envelope, List<byte[]> signer) {
        return new Draft(
                ticket.id(),
                Digest.sha256(ticket.payload()),
                ticket.epoch(),
                Binary.of(envelope),
                Binary.all(signer),
                List.of(),
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    Draft withRelay(List<Binary> chain, Binary head) {
        return new Draft(
                ticket, digest, epoch, request, signer, chain, Optional.of(head), job, allocation, policy, end);
    }

    Draft withJob(long now) {
        return new Draft(ticket, digest, epoch, request, signer, relay, audit, now, allocation, policy, end);
    }

    Draft withAllocation(Binary given) {
        return new Draft(ticket, digest, epoch, request, signer, relay, audit, job, Optional.of(given), policy, end);
    }

    Draft under(Digest now) {
        return new Draft(ticket, digest, epoch, request, signer, relay, audit, job, allocation, Optional.of(now), end);
    }

    Draft ended(End now) {
        return new Draft(
                ticket, digest, epoch, request, signer, relay, audit, job, allocation, policy, Optional.of(now));
    }

    static Draft read(byte[] file) throws MalformedException {
        StrictJson json = StrictJson.read(file, MAX_BYTES, MAX_BYTES);
        json.requireFormat(FORMAT);
        Draft draft = new Draft(
                json.text("ticket", Ticket.ID),
                json.digest("digest", Digest.Algorithm.SHA256),
                json.number("epoch", 1, Ticket.MAX_COUNT),
                Binary.read(json, "request", Ticket.MAX_BYTES),
                HandOver.readChain(json, "signer"),
                json.has("relay") ? HandOver.readChain(json, "relay") : List.of(),
                json.has("audit") ? Optional.of(Binary.read(json, "audit", AuditHead.MAX_BYTES)) : Optional.empty(),
                json.number("job", 0, Ticket.MAX_COUNT),
                json.has("allocation")
                        ? Optional.of(Binary.read(json, "allocation", Allocation.MAX_ENVELOPE))
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
        HandOver.writeChain(json, "signer", signer);
        if (!relay.isEmpty()) {
            HandOver.writeChain(json, "relay", relay);
        }
        audit.ifPresent(head -> json.put("audit", head.base64()));
        allocation.ifPresent(envelope -> json.put("allocation", envelope.base64()));
        policy.ifPresent(hash -> json.put("policy", hash.hex()));
        end.ifPresent(now -> json.put("end", now.how.toString()).put("ended", now.time.toString()));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }
}
