package org.cloister.vm.handover;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.Digest;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.Policy;
import org.cloister.vm.opening.OpeningWorld;
import org.cloister.vm.worker.WorkerEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that come back to a controlling VM that was opened anew, in circuits whose both ends are real. */
class ReturningTest {
    private final DeskWorld world;
    private final DeskWorld.Vm vm;
    private final HandOver given;

    ReturningTest(@TempDir Path folder) throws Exception {
        world = new DeskWorld(folder);
        vm = world.new Vm();
        given = vm.calls().isGiven();
    }

    @AfterEach
    void close() {
        vm.keys.close();
        world.close();
    }

    private DeskWorld.Talk comesBack() throws Exception {
        DeskWorld.Talk talk = vm.callsWith(given);
        talk.say(DeskWorld.resume());
        return talk;
    }

    private void isDenied(DeskWorld.Talk talk, String clause) throws Exception {
        assertThat(talk.hears())
                .isInstanceOfSatisfying(
                        VerifierMessage.Denied.class,
                        denied -> assertThat(denied.clauses()).containsExactly(clause));
        talk.ends();
        assertThat(world.access.said).isEmpty();
    }

    @Test
    void it_is_let_in_again_with_a_key_and_a_certificate_and_is_a_node_when_it_says_so() throws Exception {
        world.reopen();
        DeskWorld.Talk talk = vm.callsWith(given);
        VmMessage.Resume resume = DeskWorld.resume();
        talk.say(resume);
        talk.say(new VmMessage.Ready());
        Readmission anew = (Readmission) talk.hears();
        assertThat(anew.place().nonce()).isEqualTo(resume.fresh());
        assertThat(anew.name()).isEqualTo(world.worker);
        assertThat(world.access.said).containsExactly("admit " + world.worker.id() + " at 10.64.12.6 as 1002");
        try (SecretMemory opened = new Hpke(world.opening.crypto)
                .open(
                        vm.keys.sealing(),
                        anew.sealingContext(),
                        new byte[0],
                        anew.mungeKey().orElseThrow().bytes().toByteArray())) {
            assertThat(opened.sameAs(world.munge)).isTrue();
        }
        talk.say(new VmMessage.Readmitted(Nonce.random(new SecureRandom())));
        talk.say(new VmMessage.Beat());
        assertThat(talk.hears()).isInstanceOf(VerifierMessage.Beat.class);
        world.settle(() -> assertThat(world.news).as("of another circuit").isEmpty());

        DeskWorld.Talk again = vm.callsWith(anew.certificates());
        VmMessage.Resume second = DeskWorld.resume();
        again.say(second);
        again.say(new VmMessage.Ready());
        assertThat(again.hears()).as("it has not said that it has it").isInstanceOf(Readmission.class);
        again.say(new VmMessage.Readmitted(second.fresh()));
        again.say(new VmMessage.Beat());
        assertThat(again.hears()).isInstanceOf(VerifierMessage.Beat.class);
        world.settle(() -> assertThat(world.news)
                .containsExactly(new WorkerEvent.NodeReady(BootWorld.TICKET, DeskWorld.SLOT, world.worker.id())));
        world.settle(() -> world.desk.forget(BootWorld.TICKET));
        assertThat(world.access.said).endsWith("dismiss " + world.worker.id());
    }

    @Test
    void a_worker_of_this_boot_is_given_nothing_again_until_half_of_its_day_is_over() throws Exception {
        DeskWorld.Talk talk = comesBack();
        talk.say(new VmMessage.Beat());
        assertThat(talk.hears()).isInstanceOf(VerifierMessage.Beat.class);
        world.now = OpeningWorld.NOW.plus(Duration.ofHours(12));
        Readmission anew = (Readmission) comesBack().hears();
        assertThat(anew.mungeKey()).isEmpty();
        assertThat(anew.time()).isEqualTo(world.now);
        assertThat(anew.certificates().get(1)).isEqualTo(given.certificates().get(1));
    }

    @Test
    void who_has_an_authoritys_certificate_for_its_name_and_another_key_is_nobody_and_the_worker_stays()
            throws Exception {
        world.reopen();
        DeskWorld.Talk own = comesBack();
        assertThat(own.hears()).isInstanceOf(Readmission.class);
        world.access.said.clear();
        DeskWorld.Vm other = world.new Vm();
        isDenied(other.callsCertified(), "another-key");
        own.say(new VmMessage.Beat());
        assertThat(own.hears()).isInstanceOf(VerifierMessage.Beat.class);
        world.settle(() -> assertThat(world.news).isEmpty());
        other.keys.close();
    }

    @Test
    void who_was_never_handed_over_to_is_unknown_whatever_certificate_it_has(@TempDir Path empty) throws Exception {
        try (DeskWorld fresh = new DeskWorld(empty)) {
            DeskWorld.Vm stranger = fresh.new Vm();
            DeskWorld.Talk talk = stranger.callsCertified();
            assertThat(((VerifierMessage.Denied) talk.hears()).clauses()).containsExactly("unknown");
            assertThat(fresh.new Vm().calls().isGiven())
                    .as("the slot is its worker's still")
                    .isNotNull();
        }
    }

    @Test
    void a_ticket_that_was_forgotten_has_no_workers_to_come_back() throws Exception {
        world.settle(() -> world.desk.forget(BootWorld.TICKET));
        world.reopen();
        isDenied(vm.callsWith(given), "unknown");
    }

    @Test
    void one_of_another_life_of_its_vm_is_refused() throws Exception {
        world.reopen();
        DeskWorld.Talk talk = vm.callsWith(given);
        talk.say(new VmMessage.Resume(
                BootWorld.TICKET, DeskWorld.SLOT, "b".repeat(26), Nonce.random(new SecureRandom())));
        isDenied(talk, "another-vm");
        world.isGone("denied-another-vm");
    }

    @Test
    void an_allocation_that_says_another_address_lets_nobody_in() throws Exception {
        world.address = 9;
        world.reopen();
        isDenied(comesBack(), "another-slot");
        world.isGone("denied-another-slot");
    }

    @Test
    void a_host_or_an_image_that_the_owners_took_back_lets_nobody_in() throws Exception {
        Policy before = world.policy;
        world.policy =
                with(before, List.of(new AcceptedHost("node3", vm.keys.shown().signing())), before.images());
        world.reopen();
        isDenied(comesBack(), "host");
        world.policy =
                with(before, before.hosts(), List.of(new AcceptedImage(Digest.sha384("another"), Optional.empty())));
        world.reopen();
        isDenied(comesBack(), "image");
        world.policy = before;
        world.revoked = true;
        world.reopen();
        isDenied(comesBack(), "revoked");
    }

    private static Policy with(Policy policy, List<AcceptedHost> hosts, List<AcceptedImage> images) {
        return new Policy(
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
        world.members = List.of(DeskWorld.ANN);
        world.reopen();
        isDenied(comesBack(), "no-member");
        world.isGone("denied-no-member");
    }

    @Test
    void who_cannot_be_let_in_now_comes_again() throws Exception {
        world.reopen();
        world.access.fails = true;
        DeskWorld.Talk talk = comesBack();
        talk.ends();
        assertThat(talk.listener.heard).isEmpty();
        world.settle(() -> assertThat(world.news).isEmpty());
        world.access.fails = false;
        assertThat(comesBack().hears()).isInstanceOf(Readmission.class);
    }

    @Test
    void one_that_cannot_be_renewed_goes_on_with_what_it_has() throws Exception {
        world.now = OpeningWorld.NOW.plus(Duration.ofHours(12));
        world.access.fails = true;
        DeskWorld.Talk talk = comesBack();
        talk.say(new VmMessage.Beat());
        assertThat(talk.hears()).isInstanceOf(VerifierMessage.Beat.class);
    }

    @Test
    void one_that_was_released_hears_that_and_gets_nothing() throws Exception {
        world.reopen();
        world.settle(() -> world.desk.release(BootWorld.TICKET));
        assertThat(comesBack().hears()).isInstanceOf(VerifierMessage.Release.class);
        assertThat(world.access.said).isEmpty();
    }

    @Test
    void what_is_handed_over_stands_in_the_book_before(@TempDir Path elsewhere) throws IOException {
        Guest guest = GuestBook.open(world.folder.resolve("guests"))
                .find(BootWorld.TICKET, DeskWorld.SLOT)
                .orElseThrow();
        assertThat(guest.keys()).isEqualTo(vm.keys.shown());
        assertThat(guest.uid()).isEqualTo(1002);
        assertThat(guest.gid()).isEqualTo(1000);
        assertThat(guest.vm()).isEqualTo(OpeningWorld.VM);
        assertThat(guest.address()).hasToString("10.64.12.6");
        assertThat(guest.image()).isEqualTo(OpeningWorld.IMAGE);
        assertThat(GuestBook.open(elsewhere).find(BootWorld.TICKET, DeskWorld.SLOT))
                .isEmpty();
    }
}
