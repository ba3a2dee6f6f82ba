package org.cloister.protocol.receipt;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * What there is of one slot; what never came to be is not there.
 *
 * @param host the chain of who signed the host's part and the evidence; empty if neither is there
 * @param part an envelope with a {@link HostPart}
 * @param evidence an envelope with a {@link Statement}
 * @param worker an envelope with a {@link WorkerPart}
 */
public record ReceiptSlot(
        int slot,
        List<Binary> host,
        Optional<Binary> part,
        Optional<Binary> evidence,
        Optional<HandOver> handOver,
        Optional<Binary> worker) {
    /** Base64 makes 4 of 3; and there are signatures. */
    private static final int MAX_EVIDENCE = 2 * Statement.MAX_BYTES;

    public ReceiptSlot {
        host = List.copyOf(host);
        if (slot < 0 || slot >= ResourceRequest.MAX_NODES) {
            throw new IllegalArgumentException("slot: want 0 to " + (ResourceRequest.MAX_NODES - 1) + ", have " + slot);
        }
    }

    /** One of which nothing is known. */
    public static ReceiptSlot empty(int slot) {
        return new ReceiptSlot(slot, List.of(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** @param chain in DER, the leaf first */
    public ReceiptSlot withHost(List<byte[]> chain) {
        return new ReceiptSlot(slot, Binary.all(chain), part, evidence, handOver, worker);
    }

    public ReceiptSlot withPart(byte[] envelope) {
        return new ReceiptSlot(slot, host, Optional.of(Binary.of(envelope)), evidence, handOver, worker);
    }

    public ReceiptSlot withEvidence(byte[] envelope) {
        return new ReceiptSlot(slot, host, part, Optional.of(Binary.of(envelope)), handOver, worker);
    }

    public ReceiptSlot withHandOver(HandOver made) {
        return new ReceiptSlot(slot, host, part, evidence, Optional.of(made), worker);
    }

    public ReceiptSlot withWorker(byte[] envelope) {
        return new ReceiptSlot(slot, host, part, evidence, handOver, Optional.of(Binary.of(envelope)));
    }

    /** As {@link #write} wrote it. */
    public static ReceiptSlot read(StrictJson json) throws MalformedException {
        ReceiptSlot slot = new ReceiptSlot(
                (int) json.number("slot", 0, ResourceRequest.MAX_NODES - 1),
                json.has("hostChain") ? HandOver.readChain(json, "hostChain") : List.of(),
                optional(json, "host", HostPart.MAX_BYTES),
                optional(json, "evidence", MAX_EVIDENCE),
                json.has("handOver") ? Optional.of(HandOver.read(json.object("handOver"))) : Optional.empty(),
                optional(json, "worker", WorkerPart.MAX_BYTES));
        json.requireNothingCritical();
        return slot;
    }

    /** Into an object of its own. */
    public void write(ObjectNode json) {
        json.put("slot", slot);
        if (!host.isEmpty()) {
            HandOver.writeChain(json, "hostChain", host);
        }
        part.ifPresent(value -> json.put("host", value.base64()));
        evidence.ifPresent(value -> json.put("evidence", value.base64()));
        handOver.ifPresent(value -> value.write(json.putObject("handOver")));
        worker.ifPresent(value -> json.put("worker", value.base64()));
    }

    private static Optional<Binary> optional(StrictJson json, String key, int max) throws MalformedException {
        return json.has(key) ? Optional.of(Binary.read(json, key, max)) : Optional.empty();
    }
}
