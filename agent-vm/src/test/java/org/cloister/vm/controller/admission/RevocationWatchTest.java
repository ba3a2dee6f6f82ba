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

/** Workers that were believed when they came, in circuits whose both ends are real. */
class RevocationWatchTest {
    private final AdmissionFixture world;
    private final AdmissionFixture.Vm vm;

    RevocationWatchTest(@TempDir Path folder) throws Exception {
        world = new AdmissionFixture(folder);
        vm = world.new Vm();
    }

    @AfterEach
    void close() {
        vm.keys.close();
        world.close();
    }

    /** As soon as whoever hears of a revocation is to act. */
    private static void ends(AdmissionFixture.Session talk) throws InterruptedException {
        assertThat(talk.circuit.channel().closeFuture().await(5, TimeUnit.SECONDS))
                .as("the circuit ends within 5 s")
                .isTrue();
    }

    private static void isDenied(AdmissionFixture.Session talk) throws InterruptedException {
        assertThat(talk.receive())
                .isInstanceOfSatisfying(
                        VerifierMessage.Denied.class,
                        denied -> assertThat(denied.clauses()).containsExactly("revoked"));
        ends(talk);
    }

    /** Who has certified each controlling VM. */
    private void revokeOpener() throws Exception {
        world.beliefs.addRevocationList(world.opening.listOfOpener());
    }

    private void isQuiet() throws Exception {
        // Two looks.
        Thread.sleep(2500);
        world.settle(() -> assertThat(world.news).isEmpty());
    }

    @Test
    void a_worker_on_a_host_that_the_site_takes_back_is_told_and_said_to_be_gone_once() throws Exception {
        AdmissionFixture.Session talk = vm.calls();
        talk.isGiven();
        isQuiet();
        world.takenBack = true;
        isDenied(talk);
        world.isGone("denied-revoked");
        Thread.sleep(1500);
        world.isGone("denied-revoked");
    }

    @Test
    void a_worker_without_a_circuit_is_gone_with_its_host_too() throws Exception {
        AdmissionFixture.Session talk = vm.calls();
        talk.isGiven();
        talk.circuit.channel().close().sync();
        world.takenBack = true;
        world.isGone("denied-revoked");
    }

    @Test
    void a_slot_that_was_given_nothing_is_refused_when_it_comes_and_not_before() throws Exception {
        world.takenBack = true;
        isQuiet();
    }

    @Test
    void a_worker_of_an_earlier_boot_is_gone_with_the_opener_who_opened_that() throws Exception {
        HandoverDocument given = vm.calls().isGiven();
        world.reopen();
        AdmissionFixture.Session talk = vm.callsWith(given);
        isQuiet();
        revokeOpener();
        ends(talk);
        world.isGone("denied-revoked");
    }

    @Test
    void a_worker_that_has_what_this_boot_gives_loses_the_circuit_and_may_come_again() throws Exception {
        HandoverDocument given = vm.calls().isGiven();
        world.reopen();
        AdmissionFixture.Session talk = vm.callsWith(given);
        VmMessage.Resume resume = AdmissionFixture.resume();
        talk.send(resume);
        assertThat(talk.receive()).isInstanceOf(ReadmissionGrant.class);
        talk.send(new VmMessage.Readmitted(resume.fresh()));
        talk.send(new VmMessage.Heartbeat());
        assertThat(talk.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
        revokeOpener();
        ends(talk);
        isQuiet();
    }

    @Test
    void a_stranger_under_the_workers_name_takes_nobody_along() throws Exception {
        vm.calls().isGiven();
        world.reopen();
        AdmissionFixture.Vm other = world.new Vm();
        AdmissionFixture.Session stranger = other.callsCertified();
        assertThat(stranger.receive()).isInstanceOf(VerifierMessage.Denied.class);
        revokeOpener();
        isQuiet();
        other.keys.close();
    }
}
