package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that come back to a controlling VM that was opened again, in circuits whose both ends are real. */
class WorkerReadmissionTest {
    private final AdmissionFixture fixture;
    private final AdmissionFixture.Vm vm;
    private final HandoverDocument document;

    WorkerReadmissionTest(@TempDir Path folder) throws Exception {
        fixture = new AdmissionFixture(folder);
        vm = fixture.new Vm();
        document = vm.calls().isGiven();
    }

    @AfterEach
    void close() {
        vm.keys.close();
        fixture.close();
    }

    private AdmissionFixture.Session comesBack() throws Exception {
        AdmissionFixture.Session session = vm.callsWith(document);
        session.send(AdmissionFixture.resume());
        return session;
    }

    private void isDenied(AdmissionFixture.Session session, String clause) throws Exception {
        assertThat(session.receive())
                .isInstanceOfSatisfying(
                        VerifierMessage.Denied.class,
                        denied -> assertThat(denied.clauses()).containsExactly(clause));
        session.awaitEnd();
        assertThat(fixture.access.recorded).isEmpty();
    }

    @Test
    void it_is_let_in_again_with_a_key_and_a_certificate_and_is_a_node_when_it_says_so() throws Exception {
        fixture.reopen();
        AdmissionFixture.Session session = vm.callsWith(document);
        VmMessage.Resume resume = AdmissionFixture.resume();
        session.send(resume);
        session.send(new VmMessage.Ready());
        ReadmissionGrant grant = (ReadmissionGrant) session.receive();
        assertThat(grant.target().nonce()).isEqualTo(resume.fresh());
        assertThat(grant.name()).isEqualTo(fixture.worker);
        assertThat(fixture.access.recorded).containsExactly("admit " + fixture.worker.id() + " at 10.64.12.6 as 1002");
        try (SecretMemory opened = new Hpke(fixture.opening.crypto)
                .open(
                        vm.keys.sealing(),
                        grant.sealingContext(),
                        new byte[0],
                        grant.mungeKey().orElseThrow().bytes().toByteArray())) {
            assertThat(opened.sameAs(fixture.munge)).isTrue();
        }
        session.send(new VmMessage.Readmitted(Nonce.random(new SecureRandom())));
        session.send(new VmMessage.Heartbeat());
        assertThat(session.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
        fixture.settle(() -> assertThat(fixture.events).as("of another circuit").isEmpty());

        AdmissionFixture.Session again = vm.callsWith(grant.certificates());
        VmMessage.Resume second = AdmissionFixture.resume();
        again.send(second);
        again.send(new VmMessage.Ready());
        assertThat(again.receive()).as("it has not said that it has it").isInstanceOf(ReadmissionGrant.class);
        again.send(new VmMessage.Readmitted(second.fresh()));
        again.send(new VmMessage.Heartbeat());
        assertThat(again.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
        fixture.settle(() -> assertThat(fixture.events)
                .containsExactly(
                        new WorkerEvent.NodeReady(BootFixture.TICKET, AdmissionFixture.SLOT, fixture.worker.id())));
        fixture.settle(() -> fixture.admission.forget(BootFixture.TICKET));
        fixture.settle(() -> assertThat(fixture.access.recorded).endsWith("dismiss " + fixture.worker.id()));
    }

    @Test
    void a_worker_of_this_boot_is_given_nothing_again_until_half_of_its_day_is_over() throws Exception {
        AdmissionFixture.Session session = comesBack();
        session.send(new VmMessage.Heartbeat());
        assertThat(session.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
        fixture.now = ControllerUnlockFixture.NOW.plus(Duration.ofHours(12));
        ReadmissionGrant grant = (ReadmissionGrant) comesBack().receive();
        assertThat(grant.mungeKey()).isEmpty();
        assertThat(grant.time()).isEqualTo(fixture.now);
        assertThat(grant.certificates().get(1))
                .isEqualTo(document.certificates().get(1));
    }

    @Test
    void who_has_an_authoritys_certificate_for_its_name_and_another_key_is_nobody_and_the_worker_stays()
            throws Exception {
        fixture.reopen();
        AdmissionFixture.Session own = comesBack();
        assertThat(own.receive()).isInstanceOf(ReadmissionGrant.class);
        fixture.access.recorded.clear();
        AdmissionFixture.Vm other = fixture.new Vm();
        isDenied(other.callsCertified(), "another-key");
        own.send(new VmMessage.Heartbeat());
        assertThat(own.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
        fixture.settle(() -> assertThat(fixture.events).isEmpty());
        other.keys.close();
    }

    @Test
    void who_was_never_handed_over_to_is_unknown_whatever_certificate_it_has(@TempDir Path empty) throws Exception {
        try (AdmissionFixture fresh = new AdmissionFixture(empty)) {
            AdmissionFixture.Vm unknownVm = fresh.new Vm();
            AdmissionFixture.Session session = unknownVm.callsCertified();
            assertThat(((VerifierMessage.Denied) session.receive()).clauses()).containsExactly("unknown");
            assertThat(fresh.new Vm().calls().isGiven())
                    .as("the slot is its worker's still")
                    .isNotNull();
        }
    }

    @Test
    void a_ticket_that_was_forgotten_has_no_workers_to_come_back() throws Exception {
        fixture.settle(() -> fixture.admission.forget(BootFixture.TICKET));
        fixture.reopen();
        isDenied(vm.callsWith(document), "unknown");
    }

    @Test
    void one_of_another_life_of_its_vm_is_refused() throws Exception {
        fixture.reopen();
        AdmissionFixture.Session session = vm.callsWith(document);
        session.send(new VmMessage.Resume(
                BootFixture.TICKET, AdmissionFixture.SLOT, "b".repeat(26), Nonce.random(new SecureRandom())));
        isDenied(session, "another-vm");
        fixture.isGone("denied-another-vm");
    }

    @Test
    void an_allocation_that_says_another_address_lets_nobody_in() throws Exception {
        fixture.address = 9;
        fixture.reopen();
        isDenied(comesBack(), "another-slot");
        fixture.isGone("denied-another-slot");
    }

    @Test
    void a_host_or_an_image_that_the_owners_took_back_lets_nobody_in() throws Exception {
        ProjectPolicy before = fixture.policy;
        fixture.policy = with(
                before, List.of(new AcceptedHost("node3", vm.keys.publicKeys().signing())), before.images());
        fixture.reopen();
        isDenied(comesBack(), "host");
        fixture.policy =
                with(before, before.hosts(), List.of(new AcceptedImage(Digest.sha384("another"), Optional.empty())));
        fixture.reopen();
        isDenied(comesBack(), "image");
        fixture.policy = before;
        fixture.revoked = true;
        fixture.reopen();
        isDenied(comesBack(), "revoked");
    }

    private static ProjectPolicy with(ProjectPolicy policy, List<AcceptedHost> hosts, List<AcceptedImage> images) {
        return new ProjectPolicy(
                policy.project(),
                policy.serial() + 1,
                policy.from(),
                policy.until(),
                policy.level(),
                hosts,
                images,
                policy.controllerLimit(),
                policy.workerLimit(),
                policy.sharing(),
                policy.workerEncryption(),
                policy.releases(),
                Set.of());
    }

    @Test
    void the_worker_of_somebody_who_is_no_member_any_more_is_refused() throws Exception {
        fixture.members = List.of(AdmissionFixture.ANN);
        fixture.reopen();
        isDenied(comesBack(), "no-member");
        fixture.isGone("denied-no-member");
    }

    private void hasAnotherWorker() throws Exception {
        AdmittedWorkers admitted = AdmittedWorkers.open(fixture.folder.resolve("guests"));
        AdmittedWorker own =
                admitted.find(BootFixture.TICKET, AdmissionFixture.SLOT).orElseThrow();
        admitted.write(new AdmittedWorker(
                own.ticket(),
                0,
                "b".repeat(26),
                own.keys(),
                own.host(),
                own.image(),
                ProjectAddress.parse("10.64.12.5"),
                own.uid(),
                own.gid()));
        fixture.reopen();
    }

    private static void isNotGrantedYet(AdmissionFixture.Session session) throws Exception {
        session.send(new VmMessage.Heartbeat());
        assertThat(session.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
    }

    @Test
    void a_worker_waits_for_the_others_of_its_job_until_the_limit_and_its_lease_is_renewed() throws Exception {
        hasAnotherWorker();
        AdmissionFixture.Session session = comesBack();
        isNotGrantedYet(session);
        fixture.now = ControllerUnlockFixture.NOW.plus(JointReadmission.LIMIT).minusMillis(1);
        isNotGrantedYet(session);
        assertThat(fixture.access.recorded).isEmpty();
        fixture.now = ControllerUnlockFixture.NOW.plus(JointReadmission.LIMIT);
        ReadmissionGrant grant = (ReadmissionGrant) session.receive();
        assertThat(grant.mungeKey()).isPresent();
    }

    @Test
    void a_worker_whose_circuit_breaks_while_it_waits_is_granted_on_its_next_one() throws Exception {
        hasAnotherWorker();
        AdmissionFixture.Session first = comesBack();
        isNotGrantedYet(first);
        assertThat(first.circuit.channel().close().await(20, TimeUnit.SECONDS)).isTrue();
        AdmissionFixture.Session second = comesBack();
        isNotGrantedYet(second);
        fixture.now = ControllerUnlockFixture.NOW.plus(JointReadmission.LIMIT);
        assertThat(second.receive()).isInstanceOf(ReadmissionGrant.class);
        assertThat(first.listener.received).noneMatch(ReadmissionGrant.class::isInstance);
    }

    @Test
    void one_whose_ticket_is_released_while_it_waits_hears_that_and_gets_nothing() throws Exception {
        hasAnotherWorker();
        AdmissionFixture.Session session = comesBack();
        isNotGrantedYet(session);
        fixture.settle(() -> fixture.admission.release(BootFixture.TICKET));
        assertThat(session.receive()).isInstanceOf(VerifierMessage.Release.class);
        assertThat(fixture.access.recorded).isEmpty();
    }

    @Test
    void who_cannot_be_let_in_now_comes_again() throws Exception {
        fixture.reopen();
        fixture.access.fails = true;
        AdmissionFixture.Session session = comesBack();
        session.awaitEnd();
        assertThat(session.listener.received).isEmpty();
        fixture.settle(() -> assertThat(fixture.events).isEmpty());
        fixture.access.fails = false;
        assertThat(comesBack().receive()).isInstanceOf(ReadmissionGrant.class);
    }

    @Test
    void one_that_cannot_be_renewed_goes_on_with_what_it_has() throws Exception {
        fixture.now = ControllerUnlockFixture.NOW.plus(Duration.ofHours(12));
        fixture.access.fails = true;
        AdmissionFixture.Session session = comesBack();
        session.send(new VmMessage.Heartbeat());
        assertThat(session.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
    }

    @Test
    void one_that_was_released_hears_that_and_gets_nothing() throws Exception {
        fixture.reopen();
        fixture.settle(() -> fixture.admission.release(BootFixture.TICKET));
        assertThat(comesBack().receive()).isInstanceOf(VerifierMessage.Release.class);
        assertThat(fixture.access.recorded).isEmpty();
    }

    @Test
    void what_is_handed_over_stands_in_the_book_before(@TempDir Path elsewhere) throws IOException {
        AdmittedWorker admitted = AdmittedWorkers.open(fixture.folder.resolve("guests"))
                .find(BootFixture.TICKET, AdmissionFixture.SLOT)
                .orElseThrow();
        assertThat(admitted.keys()).isEqualTo(vm.keys.publicKeys());
        assertThat(admitted.uid()).isEqualTo(1002);
        assertThat(admitted.gid()).isEqualTo(1000);
        assertThat(admitted.vm()).isEqualTo(ControllerUnlockFixture.VM);
        assertThat(admitted.address()).hasToString("10.64.12.6");
        assertThat(admitted.image()).isEqualTo(ControllerUnlockFixture.IMAGE);
        assertThat(AdmittedWorkers.open(elsewhere).find(BootFixture.TICKET, AdmissionFixture.SLOT))
                .isEmpty();
    }
}
