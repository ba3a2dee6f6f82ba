package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.cloister.base.encoding.Digest;
import org.cloister.ctl.drive.BootSealingKey;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An opener's device and the controlling VM that it opened: what it believes, and what it gives. */
@Timeout(180)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class ProjectUnlockTest extends UnlockCommandFixture {
    @Test
    void a_new_drive_is_made_and_opened_again_with_the_same_key() throws Exception {
        Digest key;
        try (UnlockResult first = runUnlock(creating("--policy", signed(1), "--output", "json"))) {
            assertThat(ProjectFilesFixture.out(first.result()))
                    .contains("\"vm\" : \"open\"", "\"found\" : \"made\"", "\"host\" : \"h1\"", "\"epoch\" : \"1\"");
            key = first.vm().key();
            assertThat(first.vm().unlock.create()).isTrue();
            assertThat(first.vm().unlock.settings()).contains(ByteString.copyFromUtf8(SETTINGS));
            assertThat(first.vm().unlock.members()).as("the drive's own").isEmpty();
            assertThat(first.vm().unlock.siteKeys())
                    .isEqualTo(List.copyOf(beliefs().anchors().of(CertificateName.SITE)));
            assertThat(first.vm().unlock.network().address()).isEqualTo(NETWORK.controller());
            assertThat(first.vm().unlock.network().mac()).hasToString("52:54:0a:40:0c:01");
        }
        try (UnlockResult second = runUnlock(unlocking(), vm -> vm.found = 1)) {
            assertThat(ProjectFilesFixture.out(second.result()))
                    .contains("epoch 1")
                    .doesNotContain("made");
            assertThat(second.vm().key()).as("the drive's").isEqualTo(key);
            assertThat(second.vm().unlock.create()).isFalse();
            assertThat(second.vm().unlock.settings()).as("the drive's own").isEmpty();
            assertThat(second.vm().unlock.epoch()).isEqualTo(2);
        }
        try (UnlockResult back = runUnlock(unlocking(), vm -> vm.found = 1)) {
            assertThat(back.result().status()).isEqualTo(2);
            assertThat(back.result().err())
                    .contains("alarm: drive main: want epoch 2 or later", "reset it to an older state");
        }
        assertThat(state.resolve("drives/main/epoch")).hasContent("3\n");
        assertThat(Files.readAllLines(state.resolve("unlocked"))).hasSize(3).allMatch(line -> line.endsWith(" 1"));
    }

    @Test
    void why_the_vm_before_ended_itself_is_shown_and_acknowledged_also_on_a_later_circuit() throws Exception {
        try (UnlockResult first = runUnlock(creating("--policy", signed(1)))) {
            ProjectFilesFixture.out(first.result());
            assertThat(first.vm().acknowledgements.getCount()).isOne();
        }
        for (boolean cut : new boolean[] {false, true}) {
            try (UnlockResult next = runUnlock(unlocking(), vm -> {
                vm.found = cut ? 2 : 1;
                vm.cutAtUnlock = cut;
                vm.lastEnd = Optional.of(VmEndReport.of(
                        Instant.parse("2026-06-02T09:30:00Z"), "the project cannot start: no answer of sacctmgr"));
            })) {
                assertThat(next.result().status()).isZero();
                assertThat(next.result().err())
                        .isEqualTo("agentctl: warning: the last time this drive was open, its VM ended itself at "
                                + "2026-06-02T09:30:00Z: the project cannot start: no answer of sacctmgr\n");
                assertThat(next.vm().acknowledgements.await(20, TimeUnit.SECONDS))
                        .isTrue();
            }
        }
    }

    @Test
    void members_are_brought_as_they_are_and_what_is_plainly_none_is_refused_before_anything_is_opened()
            throws Exception {
        String members = "# nobody else\n[[member]]\nlogin = \"ada\"\nuid = 2001\ngid = 2001\n";
        try (UnlockResult met =
                runUnlock(creating("--policy", signed(1), "--members", file("members.toml", members)))) {
            ProjectFilesFixture.out(met.result());
            assertThat(met.vm().unlock.members()).contains(ByteString.copyFromUtf8(members));
        }
        try (UnlockResult nobody = runUnlock(unlocking("--members", file("nobody.toml", "")), vm -> vm.found = 1)) {
            ProjectFilesFixture.out(nobody.result());
            assertThat(nobody.vm().unlock.members()).contains(ByteString.EMPTY);
        }
        Path latin = Files.write(folder.resolve("latin.toml"), new byte[] {'#', (byte) 0xe9, '\n'});
        Path tooLong = Files.write(folder.resolve("long.toml"), new byte[(64 << 10) + 1]);
        Map<String, String[]> refused = new LinkedHashMap<>();
        refused.put("want tables [[member]], or none, have others", unlocking("--members", settings()));
        refused.put("want at least one table [[shape]]", unlocking("--settings", file("members.toml", members)));
        refused.put("want text in UTF-8", unlocking("--members", latin.toString()));
        refused.put("65536", unlocking("--settings", tooLong.toString()));
        refused.put("name their file with --settings", unlocking("--create", "--make", "1G"));
        for (Map.Entry<String, String[]> each : refused.entrySet()) {
            Cli.Result result = project.cli.runWithSecrets(each.getValue());
            assertThat(result.status()).as(each.getKey()).isNotZero();
            assertThat(result.err()).contains(each.getKey());
        }
        assertThat(relay.acceptedOpenings()).hasSize(2);
    }

    @Test
    @SuppressWarnings("try") // what is open is only there to have a number
    void another_opener_and_the_paper_in_the_safe_open_it_too() throws Exception {
        Digest key;
        try (UnlockResult first =
                runUnlock(creating("--policy", signed(1), "--recipient", "eve=" + at("eve.drive.pub")))) {
            ProjectFilesFixture.out(first.result());
            key = first.vm().key();
        }
        String[] eves = unlocking();
        for (int i = 0; i < eves.length; i++) {
            eves[i] = eves[i].equals(at("cat.drive")) ? at("eve.drive") : eves[i];
        }
        try (UnlockResult second = runUnlock(eves, vm -> vm.found = 1)) {
            ProjectFilesFixture.out(second.result());
            assertThat(second.vm().key()).isEqualTo(key);
        }
        try (FileInputStream recoveryInput =
                new FileInputStream(folder.resolve("paper").toFile())) {
            String[] arguments = Stream.of(unlocking())
                    .filter(each -> !each.equals("--drive-key"))
                    .map(each -> each.equals(at("cat.drive")) ? "--recovery-key" : each)
                    .toArray(String[]::new);
            String[] read = Stream.concat(
                            Stream.of(arguments),
                            Stream.of("--drive-secret-fd", Cli.descriptor(folder.resolve("paper"))))
                    .toArray(String[]::new);
            CompletableFuture<Cli.Result> result = CompletableFuture.supplyAsync(() -> {
                try {
                    return project.cli.runWithSecret(read);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            Opening opening = awaitOpening(3);
            try (FakeControllerVm vm = new FakeControllerVm(relay, credential("h1"), beliefs(), opening)) {
                vm.found = 2;
                vm.boot();
                relay.run(opening.id(), allocation(opening));
                ProjectFilesFixture.out(result.get(90, TimeUnit.SECONDS));
                assertThat(vm.key()).isEqualTo(key);
            }
        }
    }

    @Test
    void what_the_vm_shows_is_held_against_policy_allocation_and_circuit_and_every_denial_is_said() throws Exception {
        SigningKey other = anyKey(SignatureCurve.P256);
        BootPublicKeys others = new BootPublicKeys(
                anyKey(SignatureCurve.P384).verificationKey(),
                anyKey(SignatureCurve.P384).verificationKey());
        Map<String, Consumer<FakeControllerVm>> forgeries = new LinkedHashMap<>();
        forgeries.put("signature", vm -> vm.host = other);
        forgeries.put(
                "image", vm -> vm.facts = is -> facts(is, is.role(), is.ticket(), Digest.sha384("other"), is.shape()));
        forgeries.put(
                "size", vm -> vm.facts = is -> facts(is, is.role(), is.ticket(), is.image(), new VmShape(5, 4096, 0)));
        forgeries.put("role", vm -> vm.facts = is -> facts(is, VmRole.WORKER, is.ticket(), is.image(), is.shape()));
        forgeries.put("ticket", vm -> vm.facts = is -> facts(is, is.role(), "a".repeat(26), is.image(), is.shape()));
        forgeries.put(
                "nonce",
                vm -> vm.claim =
                        is -> new AttestationClaims(is.keys(), Nonce.random(new SecureRandom()), is.binding()));
        forgeries.put("circuit", vm -> vm.claim = is -> new AttestationClaims(others, is.nonce(), is.binding()));
        String policy = signed(1);
        for (Map.Entry<String, Consumer<FakeControllerVm>> forgery : forgeries.entrySet()) {
            try (UnlockResult met = runUnlock(creating("--policy", policy, "--output", "json"), forgery.getValue())) {
                assertThat(met.result().status()).as(forgery.getKey()).isEqualTo(2);
                assertThat(met.result().err()).contains("agentctl: denied by " + forgery.getKey() + ": ");
                assertThat(met.result().out()).contains("\"vm\" : \"denied\"", "agentctl project close");
                assertThat(met.vm().denials.await(20, TimeUnit.SECONDS)).isTrue();
                assertThat(met.vm().denied.clauses()).contains(forgery.getKey());
                assertThat(met.vm().unlock).isNull();
            }
        }
        assertThat(state.resolve("unlocked")).as("what was given").doesNotExist();
    }

    private static VmFacts facts(VmFacts is, VmRole role, String ticket, Digest image, VmShape shape) {
        return new VmFacts(is.project(), is.vm(), role, ticket, is.slot(), image, shape, is.sharing());
    }

    @Test
    void a_host_that_the_owners_do_not_accept_gets_nothing_and_all_clauses_are_said() throws Exception {
        String policy = policy(1, Digest.sha384("another"), 1, anyKey(SignatureCurve.P256));
        out("project", "sign", policy, "--key", at("ben.key"));
        try (UnlockResult met = runUnlock(creating("--policy", policy))) {
            assertThat(met.result().err()).contains("denied by host: ", "denied by image: ", "denied by size: ");
            assertThat(met.vm().unlock).isNull();
        }
    }

    @Test
    void a_key_sealed_for_one_boot_opens_for_no_other() throws Exception {
        try (UnlockResult met = runUnlock(creating("--policy", signed(1)));
                BootSealingKey other = new BootSealingKey()) {
            ProjectFilesFixture.out(met.result());
            byte[] info = met.vm().unlock.sealingContext(history.id());
            byte[] sealed = met.vm().unlock.driveKey().bytes().toByteArray();
            assertThatThrownBy(() -> other.opened(info, sealed)).isInstanceOf(IOException.class);
            info[info.length - 1]++;
            assertThatThrownBy(() -> met.vm().sealing.opened(info, sealed)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void a_circuit_that_breaks_before_the_keys_is_opened_again_with_the_same_question() throws Exception {
        try (UnlockResult met = runUnlock(creating("--policy", signed(1)), vm -> {
            vm.cutsAtQuestion.set(2);
            vm.refusalReason = Optional.of(EvidenceMessage.RefusalReason.BUSY);
        })) {
            ProjectFilesFixture.out(met.result());
            assertThat(met.vm().questions).hasSize(4);
            assertThat(met.vm().questions.stream().distinct())
                    .as("a host vouches once")
                    .hasSize(1);
        }
    }

    @Test
    void a_circuit_that_breaks_after_the_keys_is_opened_again_to_hear_of_the_drive() throws Exception {
        try (UnlockResult met = runUnlock(creating("--policy", signed(1)), vm -> vm.cutAtUnlock = true)) {
            assertThat(ProjectFilesFixture.out(met.result())).contains("made");
            assertThat(met.vm().questions).hasSize(1);
            assertThat(relay.exchange().circuits()).isEqualTo(2);
        }
    }

    @Test
    void a_vm_that_had_the_drive_before_forges_no_epoch_of_it() throws Exception {
        try (UnlockResult met = runUnlock(creating("--policy", signed(1)), vm -> {
            vm.cutAtUnlock = true;
            vm.impostors.add(FakeControllerVm.Impostor.BEFORE);
        })) {
            assertThat(ProjectFilesFixture.out(met.result()))
                    .contains("made")
                    .doesNotContain(Long.toString(FakeControllerVm.FORGED));
            assertThat(met.vm().impostors).isEmpty();
        }
    }

    @Test
    void a_boot_certificate_of_another_key_does_not_end_a_vm_that_was_given_its_keys() throws Exception {
        try (UnlockResult met = runUnlock(creating("--policy", signed(1)), vm -> {
            vm.cutAtUnlock = true;
            vm.impostors.add(FakeControllerVm.Impostor.BOOTING);
        })) {
            assertThat(ProjectFilesFixture.out(met.result())).contains("made");
            assertThat(met.vm().impostors).isEmpty();
            assertThat(met.vm().denied).as("what the VM itself has heard").isNull();
        }
    }

    @Test
    void keys_that_are_lost_with_their_circuit_are_not_given_again() throws Exception {
        try (UnlockResult met = runUnlock(creating("--policy", signed(1)), vm -> vm.deafToUnlock = true)) {
            ProjectFilesFixture.refused(met.result(), "it is still booting, and the keys that it received are lost");
            assertThat(met.vm().denials.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(met.vm().denied.clauses()).containsExactly("spent");
        }
        assertThat(Files.readAllLines(state.resolve("unlocked"))).hasSize(1);
    }

    @Test
    void a_vm_that_gives_up_or_whose_host_vouched_before_is_no_controlling_vm() throws Exception {
        String policy = signed(1);
        try (UnlockResult met = runUnlock(
                creating("--policy", policy),
                vm -> vm.instead = Optional.of(new VmMessage.Failure(BootPhase.DRIVE, "not-empty")))) {
            ProjectFilesFixture.refused(met.result(), "it failed in phase drive: not-empty");
        }
        try (UnlockResult met = runUnlock(creating(), vm -> vm.instead = Optional.of(new VmMessage.Opened(3, false)))) {
            ProjectFilesFixture.refused(met.result(), "want a drive that was made, have another");
        }
        try (UnlockResult met =
                runUnlock(creating(), vm -> vm.refusalReason = Optional.of(EvidenceMessage.RefusalReason.ANOTHER))) {
            ProjectFilesFixture.refused(met.result(), "its host has signed evidence for another boot");
        }
        assertThat(state.resolve("drives/main/epoch"))
                .as("a drive that was never open")
                .doesNotExist();
    }

    @Test
    void an_opening_that_ends_while_its_vm_boots_is_told_and_one_that_stays_away_too() throws Exception {
        String policy = signed(1);
        CompletableFuture<Cli.Result> result = CompletableFuture.supplyAsync(() -> {
            try {
                return project.cli.runWithSecrets(creating("--policy", policy));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        Opening opening = awaitOpening(1);
        relay.run(opening.id(), allocation(opening));
        Thread.sleep(1500);
        assertThat(result).as("while nobody serves its name").isNotDone();
        relay.move(opening.id(), TicketState.ENDED, Optional.of(TicketEnd.NODE_FAILED));
        assertThat(result.get(30, TimeUnit.SECONDS).out()).contains("node-failed");
        assertThat(result.get().status()).isEqualTo(2);
    }

    @Test
    void a_policy_is_the_owners_and_never_goes_back() throws Exception {
        String unsigned = policy(2, FakeControllerVm.IMAGE, 4, key(credential("h1")));
        ProjectFilesFixture.refused(project.cli.runWithSecrets(creating()), "name it once with --policy");
        ProjectFilesFixture.refused(project.cli.runWithSecrets(creating("--policy", unsigned)), unsigned + ": ");
        String newer = signed(3);
        try (UnlockResult met = runUnlock(creating("--policy", newer))) {
            ProjectFilesFixture.out(met.result());
        }
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(unlocking("--policy", signed(2))), "serial: want more than 3, have 2");
        assertThat(state.resolve("policy")).hasSameBinaryContentAs(Path.of(newer));
        assertThat(relay.acceptedOpenings()).as("what was opened").hasSize(1);
    }

    @Test
    void a_drives_key_is_made_once_and_for_more_than_one_key() throws Exception {
        String policy = signed(1);
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(unlocking("--policy", policy)), "get it from another opener");
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(unlocking("--create", "--make", "1G", "--settings", settings())),
                "have only this opener");
        try (UnlockResult met = runUnlock(creating())) {
            ProjectFilesFixture.out(met.result());
        }
        byte[] envelope = Files.readAllBytes(state.resolve("drives/main/envelope"));
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(creating("--recipient", "eve=" + at("eve.drive.pub"))),
                "have one for [cat, safe] of an earlier attempt");
        String[] eves = unlocking();
        for (int i = 0; i < eves.length; i++) {
            eves[i] = eves[i].equals(at("cat.drive")) ? at("eve.drive") : eves[i];
        }
        ProjectFilesFixture.refused(project.cli.runWithSecrets(eves), "want a private key of one of [cat, safe]");
        try (UnlockResult again = runUnlock(creating())) {
            ProjectFilesFixture.out(again.result());
        }
        assertThat(state.resolve("drives/main/envelope")).hasBinaryContent(envelope);
        assertThat(relay.acceptedOpenings()).as("what was opened").hasSize(2);
    }
}
