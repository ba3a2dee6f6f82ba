package org.cloister.protocol.receipt;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Parts of a receipt about one slot; parts that never existed are missing.
 *
 * @param host the chain of the signer of the host's part and the evidence; empty if both are missing
 * @param hostStatement an envelope with a {@link HostStatement}
 * @param evidence an envelope with a {@link EvidenceStatement}
 * @param workerStatement an envelope with a {@link WorkerStatement}
 */
public record ReceiptSlot(
        int slot,
        List<ReceiptBytes> host,
        Optional<ReceiptBytes> hostStatement,
        Optional<ReceiptBytes> evidence,
        Optional<HandoverRecord> handOver,
        Optional<ReceiptBytes> workerStatement) {
    /** Includes base64's overhead, four bytes for three, and the signatures. */
    private static final int MAX_EVIDENCE = 2 * EvidenceStatement.MAX_BYTES;

    public ReceiptSlot {
        host = List.copyOf(host);
        if (slot < 0 || slot >= ResourceRequest.MAX_NODES) {
            throw new IllegalArgumentException("slot: want 0 to " + (ResourceRequest.MAX_NODES - 1) + ", have " + slot);
        }
    }

    /** Returns a slot of which nothing is known. */
    public static ReceiptSlot empty(int slot) {
        return new ReceiptSlot(slot, List.of(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /**
     * Returns the slot with the host's chain.
     *
     * @param chain in DER, the leaf first
     */
    public ReceiptSlot withHost(List<byte[]> chain) {
        return new ReceiptSlot(slot, ReceiptBytes.all(chain), hostStatement, evidence, handOver, workerStatement);
    }

    public ReceiptSlot withHostStatement(byte[] envelope) {
        return new ReceiptSlot(slot, host, Optional.of(ReceiptBytes.of(envelope)), evidence, handOver, workerStatement);
    }

    public ReceiptSlot withEvidence(byte[] envelope) {
        return new ReceiptSlot(
                slot, host, hostStatement, Optional.of(ReceiptBytes.of(envelope)), handOver, workerStatement);
    }

    public ReceiptSlot withHandOver(HandoverRecord made) {
        return new ReceiptSlot(slot, host, hostStatement, evidence, Optional.of(made), workerStatement);
    }

    public ReceiptSlot withWorkerStatement(byte[] envelope) {
        return new ReceiptSlot(slot, host, hostStatement, evidence, handOver, Optional.of(ReceiptBytes.of(envelope)));
    }

    /** Reads a slot as {@link #write} wrote it. */
    public static ReceiptSlot read(StrictJson json) throws MalformedException {
        ReceiptSlot slot = new ReceiptSlot(
                (int) json.number("slot", 0, ResourceRequest.MAX_NODES - 1),
                json.has("hostChain") ? HandoverRecord.readChain(json, "hostChain") : List.of(),
                optional(json, "host", HostStatement.MAX_BYTES),
                optional(json, "evidence", MAX_EVIDENCE),
                json.has("handOver") ? Optional.of(HandoverRecord.read(json.object("handOver"))) : Optional.empty(),
                optional(json, "worker", WorkerStatement.MAX_BYTES));
        json.requireNothingCritical();
        return slot;
    }

    /** Writes the slot into an object of its own. */
    public void write(ObjectNode json) {
        json.put("slot", slot);
        if (!host.isEmpty()) {
            HandoverRecord.writeChain(json, "hostChain", host);
        }
        hostStatement.ifPresent(value -> json.put("host", value.base64()));
        evidence.ifPresent(value -> json.put("evidence", value.base64()));
        handOver.ifPresent(value -> value.write(json.putObject("handOver")));
        workerStatement.ifPresent(value -> json.put("worker", value.base64()));
    }

    private static Optional<ReceiptBytes> optional(StrictJson json, String key, int max) throws MalformedException {
        return json.has(key) ? Optional.of(ReceiptBytes.read(json, key, max)) : Optional.empty();
    }
}
