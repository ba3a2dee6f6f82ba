package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a batch of hand-overs leaves on the drive and in the network, whole, in part, and after the ticket's end. */
class ProvisioningBatchTest {
    private final AdmissionFixture fixture;
    private final Path spent;
    private final Path admitted;
    private final List<ProvisioningResult> results = new ArrayList<>();
    private HandoverLedger ledger;
    private ProvisioningBatch batch;
    private WorkerSession session;

    ProvisioningBatchTest(@TempDir Path folder) throws Exception {
        fixture = new AdmissionFixture(folder);
        spent = folder.resolve("batch-spent");
        admitted = folder.resolve("batch-admitted");
    }

    @BeforeEach
    void open() throws Exception {
        ledger = HandoverLedger.open(spent);
        batch = new ProvisioningBatch(
                new WorkerAdmission.Stores(ledger, AdmittedWorkers.open(admitted)),
                fixture.provisioner(),
                fixture.recorder,
                results::addAll);
        session = openSession();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    /** Returns the controlling VM's end of a circuit. */
    private WorkerSession openSession() throws Exception {
        CompletableFuture<WorkerSession> opened = new CompletableFuture<>();
        AdmissionFixture.Vm vm = fixture.new Vm();
        fixture.new Session(vm, vm.boot, circuit -> {
            opened.complete(new WorkerSession(
                    circuit,
                    vm.boot,
                    (from, message) -> {},
                    ended -> {},
                    new UnauthenticatedPeerCounter(() -> {}),
                    ProtocolLimits.EVIDENCE_TIME));
            return opened.join();
        });
        return opened.get(20, TimeUnit.SECONDS);
    }

    private ProvisioningRequest.Handover handover(int slot) throws IOException {
        Nonce nonce = Nonce.random(new SecureRandom());
        VmFacts facts = new VmFacts(
                fixture.project,
                ControllerUnlockFixture.VM,
                VmRole.WORKER,
                BootFixture.TICKET,
                slot,
                ControllerUnlockFixture.IMAGE,
                new VmShape(4, 4096, 0),
                HostSharing.NONE);
        EvidenceStatement statement = new EvidenceStatement(
                "node1",
                facts,
                new AttestationClaims(
                        fixture.opening.keys.publicKeys(), nonce, CircuitBinding.of(new byte[1], new byte[2])),
                ControllerUnlockFixture.NOW,
                List.of());
        return new ProvisioningRequest.Handover(
                fixture.place(slot),
                session,
                ByteString.EMPTY,
                statement,
                new HandoverTarget(BootFixture.TICKET, slot, facts.vm(), nonce),
                ledger.spend(BootFixture.TICKET, slot, nonce.digest().hex(), 7));
    }

    private String name(int slot) {
        return WorkerName.of(BootFixture.TICKET, slot, fixture.project).id();
    }

    private boolean isSpent(int slot) throws IOException {
        return HandoverLedger.open(spent).isSpent(BootFixture.TICKET, slot);
    }

    private boolean isAdmitted(int slot) throws IOException {
        return AdmittedWorkers.open(admitted).find(BootFixture.TICKET, slot).isPresent();
    }

    @Test
    void workers_that_are_ready_together_get_access_in_one_call() throws Exception {
        batch.carryOut(List.of(handover(0), handover(1)));
        assertThat(fixture.access.calls).containsExactly(2);
        assertThat(results).hasSize(2).allMatch(ProvisioningResult.HandedOver.class::isInstance);
        for (int slot = 0; slot < 2; slot++) {
            assertThat(isSpent(slot)).isTrue();
            assertThat(isAdmitted(slot)).isTrue();
        }
        assertThat(fixture.recorder.recorded).hasSize(2);
    }

    @Test
    void a_worker_that_cannot_get_access_keeps_no_other_from_it() throws Exception {
        fixture.access.failsFor = name(0);
        ProvisioningRequest.Handover first = handover(0);
        batch.carryOut(List.of(first, handover(1)));
        assertThat(results).hasSize(2).contains(new ProvisioningResult.Failed(first));
        assertThat(results).anyMatch(ProvisioningResult.HandedOver.class::isInstance);
        assertThat(isSpent(0)).isTrue();
        assertThat(isAdmitted(0)).isFalse();
        assertThat(isAdmitted(1)).isTrue();
    }

    @Test
    void slots_that_cannot_be_recorded_lead_to_nothing() throws Exception {
        Files.delete(spent);
        ProvisioningRequest.Handover first = handover(0);
        batch.carryOut(List.of(first));
        assertThat(results).containsExactly(new ProvisioningResult.NotRecorded(first));
        assertThat(fixture.access.recorded).isEmpty();
        assertThat(isAdmitted(0)).isFalse();
    }

    @Test
    void the_end_of_a_ticket_removes_what_was_requested_before_it() throws Exception {
        batch.carryOut(List.of(handover(0), new ProvisioningRequest.End(BootFixture.TICKET)));
        assertThat(fixture.access.recorded).hasSize(2).last().isEqualTo("dismiss " + name(0));
        assertThat(isSpent(0)).isFalse();
        assertThat(isAdmitted(0)).isFalse();
    }
}
