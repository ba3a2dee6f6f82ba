package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that were trusted when they connected, in circuits whose both ends are real. */
class RevocationWatchTest {
    private final AdmissionFixture fixture;
    private final AdmissionFixture.Vm vm;

    RevocationWatchTest(@TempDir Path folder) throws Exception {
        fixture = new AdmissionFixture(folder);
        vm = fixture.new Vm();
    }

    @AfterEach
    void close() {
        vm.keys.close();
        fixture.close();
    }

    /** As soon as whoever hears of a revocation is to act. */
    private static void ends(AdmissionFixture.Session session) throws InterruptedException {
        assertThat(session.circuit.channel().closeFuture().await(5, TimeUnit.SECONDS))
                .as("the circuit ends within 5 s")
                .isTrue();
    }

    private static void isDenied(AdmissionFixture.Session session) throws InterruptedException {
        assertThat(session.receive())
                .isInstanceOfSatisfying(
                        VerifierMessage.Denied.class,
                        denied -> assertThat(denied.clauses()).containsExactly("revoked"));
        ends(session);
    }

    /** Who has certified each controlling VM. */
    private void revokeOpener() throws Exception {
        fixture.trustStore.addRevocationList(fixture.opening.listOfOpener());
    }

    private void isQuiet() throws Exception {
        // Two looks.
        Thread.sleep(2500);
        fixture.settle(() -> assertThat(fixture.events).isEmpty());
    }

    @Test
    void a_worker_on_a_host_that_the_site_takes_back_is_told_and_said_to_be_gone_once() throws Exception {
        AdmissionFixture.Session session = vm.calls();
        session.isGiven();
        isQuiet();
        fixture.takenBack = true;
        isDenied(session);
        fixture.isGone("denied-revoked");
        Thread.sleep(1500);
        fixture.isGone("denied-revoked");
    }

    @Test
    void a_worker_without_a_circuit_is_gone_with_its_host_too() throws Exception {
        AdmissionFixture.Session session = vm.calls();
        session.isGiven();
        session.circuit.channel().close().sync();
        fixture.takenBack = true;
        fixture.isGone("denied-revoked");
    }

    @Test
    void a_slot_that_was_given_nothing_is_refused_when_it_comes_and_not_before() throws Exception {
        fixture.takenBack = true;
        isQuiet();
    }

    @Test
    void a_worker_of_an_earlier_boot_is_gone_with_the_opener_who_opened_that() throws Exception {
        HandoverDocument document = vm.calls().isGiven();
        fixture.reopen();
        AdmissionFixture.Session session = vm.callsWith(document);
        isQuiet();
        revokeOpener();
        ends(session);
        fixture.isGone("denied-revoked");
    }

    @Test
    void a_worker_that_has_what_this_boot_gives_loses_the_circuit_and_may_come_again() throws Exception {
        HandoverDocument document = vm.calls().isGiven();
        fixture.reopen();
        AdmissionFixture.Session session = vm.callsWith(document);
        VmMessage.Resume resume = AdmissionFixture.resume();
        session.send(resume);
        assertThat(session.receive()).isInstanceOf(ReadmissionGrant.class);
        session.send(new VmMessage.Readmitted(resume.fresh()));
        session.send(new VmMessage.Heartbeat());
        assertThat(session.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
        revokeOpener();
        ends(session);
        isQuiet();
    }

    @Test
    void a_stranger_under_the_workers_name_takes_nobody_along() throws Exception {
        vm.calls().isGiven();
        fixture.reopen();
        AdmissionFixture.Vm other = fixture.new Vm();
        AdmissionFixture.Session unknown = other.callsCertified();
        assertThat(unknown.receive()).isInstanceOf(VerifierMessage.Denied.class);
        revokeOpener();
        isQuiet();
        other.keys.close();
    }
}
