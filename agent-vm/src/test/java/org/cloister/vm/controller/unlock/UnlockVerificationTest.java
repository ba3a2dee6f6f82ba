package org.cloister.vm.controller.unlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificationRefusedException;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.ticket.Opening;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.system.users.ProjectMember;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that an opener's unlock is accepted, and with one change is refused with that change's reason. */
class UnlockVerificationTest {
    private final ControllerUnlockFixture fixture = new ControllerUnlockFixture();

    @TempDir
    private Path folder;

    UnlockVerificationTest() throws Exception {}

    private void refuses(UnlockRefusal why) {
        assertThatThrownBy(fixture::decide)
                .isInstanceOfSatisfying(
                        UnlockRefused.class,
                        refused -> assertThat(refused.word()).isEqualTo(why.toString()));
    }

    private void refusesAfter(ProjectDocuments previous, ProjectDocuments next, UnlockRefusal why) {
        assertThatThrownBy(() -> next.requireSuccessorOf(previous, ControllerUnlockFixture.NOW))
                .isInstanceOfSatisfying(
                        UnlockRefused.class,
                        refused -> assertThat(refused.word()).isEqualTo(why.toString()));
    }

    @Test
    void newer_documents_than_the_hosts_are_taken_and_its_authority_certifies_this_vm_and_workers() throws Exception {
        VerifiedUnlock unlocked = fixture.decide();
        assertThat(unlocked.documents().history().number()).isEqualTo(2);
        assertThat(fixture.assignment().project().number()).isEqualTo(1);
        var worker = WorkerName.of(BootFixture.TICKET, 3, fixture.made.history().id());
        var key = SigningKey.of(BootFixture.pair(SignatureCurve.P384)).verificationKey();
        var identity = CertificateChain.parse(unlocked.authority().issue(worker, key, ControllerUnlockFixture.NOW))
                .verifyUnlisted(
                        Set.of(CertificateRole.WORKER),
                        TrustAnchors.none().withProject(fixture.made.history()),
                        ControllerUnlockFixture.NOW);
        assertThat(identity.name()).isEqualTo(worker);
        assertThatThrownBy(() -> unlocked.authority().issue(fixture.opener, key, ControllerUnlockFixture.NOW))
                .isInstanceOf(CertificationRefusedException.class);
    }

    @Test
    void what_was_made_for_another_question_vm_or_opening_is_refused() throws Exception {
        HandoverTarget target = fixture.place;
        for (HandoverTarget other : new HandoverTarget[] {
            new HandoverTarget(target.ticket(), 0, target.vm(), Nonce.random(new SecureRandom())),
            new HandoverTarget(target.ticket(), 0, "a".repeat(26), target.nonce()),
            new HandoverTarget("a".repeat(26), 0, target.vm(), target.nonce())
        }) {
            try (var key = fixture.secrets.random(64)) {
                var unlock = fixture.unlock(key, other);
                assertThatThrownBy(() -> UnlockVerification.verify(fixture.self(), target, unlock, new SecureRandom()))
                        .isInstanceOfSatisfying(
                                UnlockRefused.class,
                                refused -> assertThat(refused.word()).isEqualTo("place"));
            }
        }
    }

    @Test
    void older_documents_and_another_projects_are_refused() throws Exception {
        fixture.files = ProjectHistory.of(fixture.made.history().envelopes().subList(0, 1));
        refuses(UnlockRefusal.DOCUMENTS);
        fixture.files = BootFixture.project(3).history();
        refuses(UnlockRefusal.DOCUMENTS);
    }

    @Test
    void an_authority_for_another_key_or_another_name_is_refused() throws Exception {
        SigningKey own = fixture.forKey;
        fixture.forKey = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        refuses(UnlockRefusal.AUTHORITY);
        fixture.forKey = own;
        fixture.certified = Opening.controller("other", fixture.made.history().id());
        refuses(UnlockRefusal.AUTHORITY);
    }

    @Test
    void a_policy_that_no_owner_signed_or_that_is_anothers_or_does_not_hold_is_refused() throws Exception {
        fixture.policySigner = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        refuses(UnlockRefusal.POLICY);
        fixture.policySigner = fixture.made.owner();
        fixture.policyProject = BootFixture.project(1).history().id();
        refuses(UnlockRefusal.POLICY);
        fixture.policyProject = fixture.made.history().id();
        fixture.policyFrom = ControllerUnlockFixture.NOW.plus(Duration.ofHours(1));
        refuses(UnlockRefusal.POLICY);
    }

    @Test
    void what_the_drive_has_seen_is_not_followed_by_anything_older() throws Exception {
        ProjectDocuments previous = fixture.decide().documents();
        fixture.decide().documents().requireSuccessorOf(previous, ControllerUnlockFixture.NOW);
        fixture.serial = 8;
        ProjectDocuments newer = fixture.decide().documents();
        newer.requireSuccessorOf(previous, ControllerUnlockFixture.NOW);
        refusesAfter(newer, previous, UnlockRefusal.OLDER_POLICY);
        fixture.files = ProjectHistory.of(fixture.made.history().envelopes().subList(0, 2));
        ProjectDocuments olderDocuments = fixture.decide().documents();
        refusesAfter(previous, olderDocuments, UnlockRefusal.OLDER_DOCUMENTS);
    }

    @Test
    void two_policies_of_one_serial_do_not_follow_each_other() throws Exception {
        ProjectDocuments previous = fixture.decide().documents();
        fixture.policyFrom = ControllerUnlockFixture.NOW.minus(Duration.ofHours(2));
        refusesAfter(previous, fixture.decide().documents(), UnlockRefusal.OLDER_POLICY);
    }

    @Test
    void the_papers_that_a_drive_has_seen_are_read_as_they_were_written() throws Exception {
        ProjectDocumentsFolder documents = new ProjectDocumentsFolder(folder.resolve("papers"));
        assertThat(documents.read()).isEmpty();
        ProjectDocuments first = fixture.decide().documents();
        documents.write(first);
        ProjectDocuments read = documents.read().orElseThrow();
        assertThat(read.policyHash()).isEqualTo(first.policyHash());
        assertThat(read.policy()).isEqualTo(first.policy());
        assertThat(read.history().number()).isEqualTo(first.history().number());
        first.requireSuccessorOf(read, ControllerUnlockFixture.NOW);
        Files.write(folder.resolve("papers/policy"), new byte[] {'{'});
        assertThatThrownBy(documents::read).isInstanceOf(java.io.IOException.class);
    }

    @Test
    void files_are_read_before_anything_is_changed_and_a_bad_one_is_refused_with_its_lines() throws Exception {
        fixture.members = Optional.of("[[member]]\nlogin = \"ada\"\nuid = 2001\ngid = 2001\n");
        OpeningFiles files = fixture.decide().files();
        assertThat(files.members().orElseThrow().content().list())
                .containsExactly(new ProjectMember("ada", 2001, 2001));
        assertThat(files.settings().orElseThrow().content().queue().shapes())
                .containsExactly(new HostShape(4, 16, 65_536, 0));
        assertThat(files.settings().orElseThrow().file().toStringUtf8()).isEqualTo(fixture.settings.orElseThrow());

        fixture.members = Optional.of("[[member]]\nlogin = \"root\"\nuid = 2001\ngid = 2001\n");
        refuses(UnlockRefusal.MEMBERS);
        assertThatThrownBy(fixture::decide).hasMessageContaining("members.toml:2: member[0].login");
        fixture.members = Optional.of("");
        assertThat(fixture.decide().files().members().orElseThrow().content().list())
                .isEmpty();
        fixture.settings = Optional.of("run = \"/run/x\"\n[[shape]]\nhosts = 1\ncpus = 1\nmemory-mib = 2048\n");
        refuses(UnlockRefusal.SETTINGS);
        assertThatThrownBy(fixture::decide).hasMessageContaining("controller.toml:1: run: unknown key");
    }

    @Test
    void a_new_drive_wants_settings_and_another_may_have_them() throws Exception {
        fixture.settings = Optional.empty();
        assertThat(fixture.decide().files().settings()).isEmpty();
        fixture.create = true;
        refuses(UnlockRefusal.NO_SETTINGS);
    }

    @Test
    void each_refusal_is_a_word_that_the_opener_is_told() {
        for (UnlockRefusal each : UnlockRefusal.values()) {
            assertThat(each.toString()).matches("[a-z-]{1,40}");
        }
    }
}
