package org.cloister.protocol.receipt;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;

/** Verifies the parts about a slot against the allocation and against each other. */
final class ReceiptSlotVerifier {
    private final Receipt receipt;
    private final Allocation allocation;
    private final AllocatedSlot allocated;
    private final ReceiptSlot slot;
    private final ReceiptSigners signers;
    private final ReceiptFindings findings;
    private final String subject;

    ReceiptSlotVerifier(
            Receipt receipt,
            Allocation allocation,
            ReceiptSlot slot,
            ReceiptSigners signers,
            ReceiptFindings findings) {
        this.receipt = receipt;
        this.allocation = allocation;
        this.allocated = allocation.slots().get(slot.slot());
        this.slot = slot;
        this.signers = signers;
        this.findings = findings;
        this.subject = "slot " + slot.slot();
    }

    void verify() {
        Optional<HostStatement> part = slot.hostStatement()
                .flatMap(bytes -> findings.signed(
                        subject + ": host's part",
                        bytes.bytes(),
                        HostStatement.TYPE,
                        allocated.key(),
                        HostStatement::parse));
        Optional<EvidenceStatement> evidence = slot.evidence()
                .flatMap(bytes -> findings.signed(
                        subject + ": evidence",
                        bytes.bytes(),
                        EvidenceStatement.TYPE,
                        allocated.key(),
                        EvidenceStatement::parse));
        verifyHost(part, evidence);
        part.ifPresent(this::verifyPart);
        evidence.ifPresent(statement -> verifyEvidence(statement, part));
        Optional<WorkerStatement> worker = evidence.flatMap(this::verifyWorker);
        evidence.ifPresent(this::verifyHandOver);
        verifyTimes(part, evidence, worker);
        if (part.isEmpty() && evidence.isEmpty()) {
            findings.claim(subject, "nothing of a VM on " + allocated.host());
        }
    }

    private void verifyHost(Optional<HostStatement> part, Optional<EvidenceStatement> evidence) {
        if (slot.hostStatement().isEmpty() && slot.evidence().isEmpty()) {
            return;
        }
        Instant claimed = part.map(HostStatement::ended)
                .or(() -> evidence.map(EvidenceStatement::issued))
                .orElse(receipt.issued());
        Optional<CertifiedIdentity> host = signers.verify(
                subject + ": host's certificate",
                slot.host(),
                CertificateRole.HOST,
                List.of(receipt.issued(), claimed));
        host.ifPresent(identity -> {
            findings.equal(subject + ": host's certificate", "key", allocated.key(), identity.key());
            findings.equal(subject + ": host's certificate", "name", allocated.host(), identity.name());
        });
    }

    private void verifyPart(HostStatement part) {
        String at = subject + ": host's part";
        verifyFacts(at, part.facts());
        findings.equal(at, "ticket's digest", receipt.digest(), part.digest());
        findings.equal(at, "Global job", allocation.globalJob(), part.globalJob());
        findings.addConfirmed(
                at,
                "VM " + part.facts().vm() + " on " + allocated.host() + ", image "
                        + part.facts().image().abbreviated() + ", "
                        + part.facts().shape() + ", as the host says");
        findings.claim(
                at,
                "started " + part.started() + ", ended " + part.ended() + " (" + part.end() + "), "
                        + part.scratch().map(ReceiptSlotVerifier::words).orElse("scratch disk NOT known to be erased")
                        + ", "
                        + part.removed().map(time -> "all of it gone " + time).orElse("NOT known to be all gone"));
    }

    private static String words(ScratchDisposal how) {
        return how == ScratchDisposal.NONE ? "no scratch disk" : "scratch disk " + how;
    }

    private void verifyFacts(String at, VmFacts facts) {
        findings.equal(at, "project", receipt.project(), facts.project());
        findings.equal(at, "ticket", receipt.ticket(), facts.ticket());
        findings.equal(at, "slot", (long) slot.slot(), facts.slot());
        findings.equal(at, "role", VmRole.WORKER, facts.role());
        VmShape shape = facts.shape();
        if (shape.cpus() > allocated.cpus() || shape.memoryMib() > allocated.memoryMib()) {
            findings.wrong(
                    at,
                    "shape: want at most " + allocated.cpus() + " CPUs and " + allocated.memoryMib()
                            + " MiB memory, have " + shape);
        }
    }

    private void verifyEvidence(EvidenceStatement statement, Optional<HostStatement> part) {
        String at = subject + ": evidence";
        verifyFacts(at, statement.facts());
        part.ifPresent(host -> findings.equal(at, "facts", host.facts(), statement.facts()));
        findings.addConfirmed(at, "boot key " + statement.claim().keys().signing() + ", as the host says");
    }

    private void verifyHandOver(EvidenceStatement statement) {
        slot.handOver().ifPresent(made -> {
            String at = subject + ": hand-over";
            Optional<CertifiedIdentity> worker = signers.verify(
                    at, made.certificates(), CertificateRole.WORKER, List.of(made.time(), receipt.issued()));
            worker.ifPresent(identity -> {
                findings.equal(at, "key", statement.claim().keys().signing(), identity.key());
                CertificateName name = WorkerName.of(receipt.ticket(), slot.slot(), receipt.project());
                findings.equal(at, "name", name, identity.name());
            });
            findings.equal(at, "nonce's digest", statement.claim().nonce().digest(), made.nonce());
            findings.claim(at, "made " + made.time() + ", as the controlling VM says");
        });
    }

    private Optional<WorkerStatement> verifyWorker(EvidenceStatement statement) {
        String at = subject + ": worker's part";
        Optional<WorkerStatement> part = slot.workerStatement()
                .flatMap(bytes -> findings.signed(
                        at,
                        bytes.bytes(),
                        WorkerStatement.TYPE,
                        statement.claim().keys().signing(),
                        WorkerStatement::parse));
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

    private void verifyTimes(
            Optional<HostStatement> part, Optional<EvidenceStatement> evidence, Optional<WorkerStatement> worker) {
        new TimeOrderCheck(findings, subject + ": times")
                .then("allocation", allocation.issued())
                .then("started", part.map(HostStatement::started))
                .then("evidence", evidence.map(EvidenceStatement::issued))
                .then("hand-over", slot.handOver().map(HandoverRecord::time))
                .then("registered", worker.flatMap(WorkerStatement::registered))
                .then("worker's end", worker.map(WorkerStatement::ended))
                .then("erased", worker.flatMap(WorkerStatement::erased))
                .then("ended", part.map(HostStatement::ended))
                .then("removed", part.flatMap(HostStatement::removed))
                .then("receipt", receipt.issued());
    }
}
