package org.cloister.protocol.receipt;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Slot;

/** Holds what there is of a slot against the allocation and against each other. */
final class SlotVerifier {
    private final Receipt receipt;
    private final Allocation allocation;
    private final Slot allocated;
    private final ReceiptSlot slot;
    private final Signers signers;
    private final Findings findings;
    private final String place;

    SlotVerifier(Receipt receipt, Allocation allocation, ReceiptSlot slot, Signers signers, Findings findings) {
        this.receipt = receipt;
        this.allocation = allocation;
        this.allocated = allocation.slots().get(slot.slot());
        this.slot = slot;
        this.signers = signers;
        this.findings = findings;
        this.place = "slot " + slot.slot();
    }

    void verify() {
        Optional<HostPart> part = slot.part()
                .flatMap(bytes -> findings.signed(
                        place + ": host's part", bytes.bytes(), HostPart.TYPE, allocated.key(), HostPart::parse));
        Optional<Statement> evidence = slot.evidence()
                .flatMap(bytes -> findings.signed(
                        place + ": evidence", bytes.bytes(), Statement.TYPE, allocated.key(), Statement::parse));
        verifyHost(part, evidence);
        part.ifPresent(this::verifyPart);
        evidence.ifPresent(statement -> verifyEvidence(statement, part));
        Optional<WorkerPart> worker = evidence.flatMap(this::verifyWorker);
        evidence.ifPresent(this::verifyHandOver);
        verifyTimes(part, evidence, worker);
        if (part.isEmpty() && evidence.isEmpty()) {
            findings.claim(place, "nothing of a VM on " + allocated.host());
        }
    }

    private void verifyHost(Optional<HostPart> part, Optional<Statement> evidence) {
        if (slot.part().isEmpty() && slot.evidence().isEmpty()) {
            return;
        }
        Instant claimed = part.map(HostPart::ended)
                .or(() -> evidence.map(Statement::issued))
                .orElse(receipt.issued());
        Optional<Identity> host = signers.verify(
                place + ": host's certificate", slot.host(), Role.HOST, List.of(receipt.issued(), claimed));
        host.ifPresent(identity -> {
            findings.equal(place + ": host's certificate", "key", allocated.key(), identity.key());
            findings.equal(place + ": host's certificate", "name", allocated.host(), identity.name());
        });
    }

    private void verifyPart(HostPart part) {
        String at = place + ": host's part";
        verifyFacts(at, part.facts());
        findings.equal(at, "ticket's digest", receipt.digest(), part.digest());
        findings.equal(at, "Global job", allocation.globalJob(), part.globalJob());
        findings.holds(
                at,
                "VM " + part.facts().vm() + " on " + allocated.host() + ", image "
                        + part.facts().image().abbreviated() + ", "
                        + part.facts().shape() + ", as the host says");
        findings.claim(
                at,
                "started " + part.started() + ", ended " + part.ended() + " (" + part.end() + "), "
                        + part.scratch().map(SlotVerifier::words).orElse("scratch disk NOT known to be erased") + ", "
                        + part.removed().map(time -> "all of it gone " + time).orElse("NOT known to be all gone"));
    }

    private static String words(ScratchEnd how) {
        return how == ScratchEnd.NONE ? "no scratch disk" : "scratch disk " + how;
    }

    private void verifyFacts(String at, VmFacts facts) {
        findings.equal(at, "project", receipt.project(), facts.project());
        findings.equal(at, "ticket", receipt.ticket(), facts.ticket());
        findings.equal(at, "slot", (long) slot.slot(), facts.slot());
        findings.equal(at, "role", VmRole.WORKER, facts.role());
        Shape shape = facts.shape();
        if (shape.cpus() > allocated.cpus() || shape.memoryMib() > allocated.memoryMib()) {
            findings.wrong(
                    at,
                    "shape: want at most " + allocated.cpus() + " CPUs and " + allocated.memoryMib()
                            + " MiB memory, have " + shape);
        }
    }

    private void verifyEvidence(Statement statement, Optional<HostPart> part) {
        String at = place + ": evidence";
        verifyFacts(at, statement.facts());
        part.ifPresent(host -> findings.equal(at, "facts", host.facts(), statement.facts()));
        findings.holds(at, "boot key " + statement.claim().keys().signing() + ", as the host says");
    }

    private void verifyHandOver(Statement statement) {
        slot.handOver().ifPresent(made -> {
            String at = place + ": hand-over";
            Optional<Identity> worker =
                    signers.verify(at, made.certificates(), Role.WORKER, List.of(made.time(), receipt.issued()));
            worker.ifPresent(identity -> {
                findings.equal(at, "key", statement.claim().keys().signing(), identity.key());
                Name name = SlotName.of(receipt.ticket(), slot.slot(), receipt.project());
                findings.equal(at, "name", name, identity.name());
            });
            findings.equal(at, "nonce's digest", statement.claim().nonce().digest(), made.nonce());
            findings.claim(at, "made " + made.time() + ", as the controlling VM says");
        });
    }

    private Optional<WorkerPart> verifyWorker(Statement statement) {
        String at = place + ": worker's part";
        Optional<WorkerPart> part = slot.worker()
                .flatMap(bytes -> findings.signed(
                        at,
                        bytes.bytes(),
                        WorkerPart.TYPE,
                        statement.claim().keys().signing(),
                        WorkerPart::parse));
        part.ifPresent(worker -> {
            findings.equal(at, "project", receipt.project(), worker.project());
            findings.equal(at, "ticket", receipt.ticket(), worker.ticket());
            findings.equal(at, "ticket's digest", receipt.digest(), worker.digest());
            findings.equal(at, "slot", slot.slot(), worker.slot());
            findings.equal(at, "VM", statement.facts().vm(), worker.vm());
            findings.claim(
                    at,
                    worker.registered().map(time -> "registered " + time).orElse("never registered")
                            + ", ended " + worker.ended() + ", "
                            + worker.erased()
                                    .map(time -> "volume erased " + time)
                                    .orElse("volume NOT known to be erased"));
        });
        return part;
    }

    private void verifyTimes(Optional<HostPart> part, Optional<Statement> evidence, Optional<WorkerPart> worker) {
        new Times(findings, place + ": times")
                .then("allocation", allocation.issued())
                .then("started", part.map(HostPart::started))
                .then("evidence", evidence.map(Statement::issued))
                .then("hand-over", slot.handOver().map(HandOver::time))
                .then("registered", worker.flatMap(WorkerPart::registered))
                .then("worker's end", worker.map(WorkerPart::ended))
                .then("erased", worker.flatMap(WorkerPart::erased))
                .then("ended", part.map(HostPart::ended))
                .then("removed", part.flatMap(HostPart::removed))
                .then("receipt", receipt.issued());
    }
}
