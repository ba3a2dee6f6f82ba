package org.cloister.vm.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RefusedException;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.Opening;
import org.cloister.vm.Shape;
import org.cloister.vm.users.Member;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an opener brings is taken, and with one thing changed it is not, in that thing's word. */
class UnlockingTest {
    private final OpeningWorld world = new OpeningWorld();

    @TempDir
    private Path folder;

    UnlockingTest() throws Exception {}

    private void refuses(Refusal why) {
        assertThatThrownBy(world::decide)
                .isInstanceOfSatisfying(
                        UnlockRefused.class,
                        refused -> assertThat(refused.word()).isEqualTo(why.toString()));
    }

    private void refusesAfter(Papers seen, Papers next, Refusal why) {
        assertThatThrownBy(() -> next.requireAfter(seen, OpeningWorld.NOW))
                .isInstanceOfSatisfying(
                        UnlockRefused.class,
                        refused -> assertThat(refused.word()).isEqualTo(why.toString()));
    }

    @Test
    void newer_documents_than_the_hosts_are_taken_and_its_authority_certifies_this_vm_and_workers() throws Exception {
        Unlocked unlocked = world.decide();
        assertThat(unlocked.papers().project().number()).isEqualTo(2);
        assertThat(world.assignment().project().number()).isEqualTo(1);
        var worker = SlotName.of(BootWorld.TICKET, 3, world.made.history().id());
        var key = SigningKey.of(BootWorld.pair(Curve.P384)).verificationKey();
        var identity = Chain.parse(unlocked.authority().certify(worker, key, OpeningWorld.NOW))
                .verifyUnlisted(
                        Set.of(Role.WORKER), Anchors.none().withProject(world.made.history()), OpeningWorld.NOW);
        assertThat(identity.name()).isEqualTo(worker);
        assertThatThrownBy(() -> unlocked.authority().certify(world.opener, key, OpeningWorld.NOW))
                .isInstanceOf(RefusedException.class);
    }

    @Test
    void what_was_made_for_another_question_vm_or_opening_is_refused() throws Exception {
        Place asked = world.place;
        for (Place other : new Place[] {
            new Place(asked.ticket(), 0, asked.vm(), Nonce.random(new SecureRandom())),
            new Place(asked.ticket(), 0, "a".repeat(26), asked.nonce()),
            new Place("a".repeat(26), 0, asked.vm(), asked.nonce())
        }) {
            try (var key = world.secrets.random(64)) {
                var unlock = world.unlock(key, other);
                assertThatThrownBy(() -> Unlocking.decide(world.self(), asked, unlock, new SecureRandom()))
                        .isInstanceOfSatisfying(
                                UnlockRefused.class,
                                refused -> assertThat(refused.word()).isEqualTo("place"));
            }
        }
    }

    @Test
    void older_documents_and_another_projects_are_refused() throws Exception {
        world.brought = ProjectHistory.of(world.made.history().envelopes().subList(0, 1));
        refuses(Refusal.DOCUMENTS);
        world.brought = BootWorld.project(3).history();
        refuses(Refusal.DOCUMENTS);
    }

    @Test
    void an_authority_for_another_key_or_another_name_is_refused() throws Exception {
        SigningKey own = world.forKey;
        world.forKey = SigningKey.of(BootWorld.pair(Curve.P384));
        refuses(Refusal.AUTHORITY);
        world.forKey = own;
        world.certified = Opening.controller("other", world.made.history().id());
        refuses(Refusal.AUTHORITY);
    }

    @Test
    void a_policy_that_no_owner_signed_or_that_is_anothers_or_does_not_hold_is_refused() throws Exception {
        world.policySigner = SigningKey.of(BootWorld.pair(Curve.P384));
        refuses(Refusal.POLICY);
        world.policySigner = world.made.owner();
        world.policyProject = BootWorld.project(1).history().id();
        refuses(Refusal.POLICY);
        world.policyProject = world.made.history().id();
        world.policyFrom = OpeningWorld.NOW.plus(Duration.ofHours(1));
        refuses(Refusal.POLICY);
    }

    @Test
    void what_the_drive_has_seen_is_not_followed_by_anything_older() throws Exception {
        Papers seen = world.decide().papers();
        world.decide().papers().requireAfter(seen, OpeningWorld.NOW);
        world.serial = 8;
        Papers newer = world.decide().papers();
        newer.requireAfter(seen, OpeningWorld.NOW);
        refusesAfter(newer, seen, Refusal.OLDER_POLICY);
        world.brought = ProjectHistory.of(world.made.history().envelopes().subList(0, 2));
        Papers olderDocuments = world.decide().papers();
        refusesAfter(seen, olderDocuments, Refusal.OLDER_DOCUMENTS);
    }

    @Test
    void two_policies_of_one_serial_do_not_follow_each_other() throws Exception {
        Papers seen = world.decide().papers();
        world.policyFrom = OpeningWorld.NOW.minus(Duration.ofHours(2));
        refusesAfter(seen, world.decide().papers(), Refusal.OLDER_POLICY);
    }

    @Test
    void the_papers_that_a_drive_has_seen_are_read_as_they_were_written() throws Exception {
        PapersFolder papers = new PapersFolder(folder.resolve("papers"));
        assertThat(papers.read()).isEmpty();
        Papers first = world.decide().papers();
        papers.write(first);
        Papers read = papers.read().orElseThrow();
        assertThat(read.hash()).isEqualTo(first.hash());
        assertThat(read.policy()).isEqualTo(first.policy());
        assertThat(read.project().number()).isEqualTo(first.project().number());
        first.requireAfter(read, OpeningWorld.NOW);
        Files.write(folder.resolve("papers/policy"), new byte[] {'{'});
        assertThatThrownBy(papers::read).isInstanceOf(java.io.IOException.class);
    }

    @Test
    void files_are_read_before_anything_is_changed_and_a_bad_one_is_refused_with_its_lines() throws Exception {
        world.members = Optional.of("[[member]]\nlogin = \"ada\"\nuid = 2001\ngid = 2001\n");
        Brought brought = world.decide().brought();
        assertThat(brought.members().orElseThrow().content().list()).containsExactly(new Member("ada", 2001, 2001));
        assertThat(brought.settings().orElseThrow().content().queue().shapes())
                .containsExactly(new Shape(4, 16, 65_536, 0));
        assertThat(brought.settings().orElseThrow().file().toStringUtf8()).isEqualTo(world.settings.orElseThrow());

        world.members = Optional.of("[[member]]\nlogin = \"root\"\nuid = 2001\ngid = 2001\n");
        refuses(Refusal.MEMBERS);
        assertThatThrownBy(world::decide).hasMessageContaining("members.toml:2: member[0].login");
        world.members = Optional.of("");
        assertThat(world.decide().brought().members().orElseThrow().content().list())
                .isEmpty();
        world.settings = Optional.of("run = \"/run/x\"\n[[shape]]\nhosts = 1\ncpus = 1\nmemory-mib = 2048\n");
        refuses(Refusal.SETTINGS);
        assertThatThrownBy(world::decide).hasMessageContaining("controller.toml:1: run: unknown key");
    }

    @Test
    void a_new_drive_wants_settings_and_another_may_have_them() throws Exception {
        world.settings = Optional.empty();
        assertThat(world.decide().brought().settings()).isEmpty();
        world.create = true;
        refuses(Refusal.NO_SETTINGS);
    }

    @Test
    void each_refusal_is_a_word_that_the_opener_is_told() {
        for (Refusal each : Refusal.values()) {
            assertThat(each.toString()).matches("[a-z-]{1,40}");
        }
    }
}
