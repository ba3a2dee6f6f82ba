package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.protocol.ticket.Opening;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An ordinary opening, which has its values from the first one of its drive and from the profile. */
@Timeout(180)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class ProjectOpenDefaultsTest extends UnlockCommandFixture {
    private Opening opening(int number) {
        return relay.acceptedOpenings().get(number - 1);
    }

    private void join() throws Exception {
        // Each test has a relay of its own, and its policy has the serial of the one before.
        Files.deleteIfExists(
                folder.resolve("config/cloister").resolve(history.id()).resolve("profile.json"));
        out(
                "project",
                "invite",
                "--project",
                at("genesis"),
                "--policy",
                signed(1),
                "--site",
                at("ca/authority.pem"),
                "--relay",
                relay.address(),
                "--certificate",
                at("cat-opener.pem"),
                "--key",
                at("ann.key"),
                "--out",
                at("cat.join"));
        out("project", "join", at("cat.join"), "--key", at("cat.key"));
    }

    /** Of a device that joined: what is left are folders, which a person has by default. */
    private String[] ordinary(String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("project", "open", "main", "--state", state.toString()));
        words.addAll(List.of("--login", project.memory().resolve("opener").toString()));
        words.addAll(List.of("--epoch-file", epochs.toString(), "--boot-time", "20"));
        words.addAll(Arrays.asList(more));
        return words.toArray(String[]::new);
    }

    @Test
    void an_ordinary_opening_has_all_from_the_profile_and_the_first_opening() throws Exception {
        join();
        String[] first = {
            "--create",
            "--make",
            "1G",
            "--recovery",
            at("safe.pub"),
            "--settings",
            settings(),
            "--drive-key",
            at("cat.drive"),
            "--cpus",
            "2",
            "--memory",
            "4G",
            "--days",
            "2"
        };
        try (UnlockResult made = runUnlock(ordinary(first))) {
            assertThat(ProjectFilesFixture.out(made.result())).contains("open");
        }
        try (UnlockResult again = runUnlock(ordinary(), vm -> vm.found = 1)) {
            assertThat(ProjectFilesFixture.out(again.result())).contains("epoch 1");
        }
        assertThat(opening(2).cpus()).isEqualTo(2);
        assertThat(opening(2).memoryMib()).isEqualTo(4096);
        assertThat(opening(2).minutes()).isEqualTo(2 * 24 * 60);
        assertThat(opening(2).driveMib()).as("only the first one makes a drive").isZero();
        try (UnlockResult once = runUnlock(ordinary("--cpus", "1", "--minutes", "9"), vm -> vm.found = 2)) {
            ProjectFilesFixture.out(once.result());
        }
        assertThat(opening(3).cpus()).isEqualTo(1);
        assertThat(opening(3).minutes()).isEqualTo(9);
        try (UnlockResult kept = runUnlock(ordinary("--memory", "2G", "--remember"), vm -> vm.found = 3)) {
            ProjectFilesFixture.out(kept.result());
        }
        assertThat(opening(4).cpus()).as("that of the first").isEqualTo(2);
        try (UnlockResult last = runUnlock(ordinary(), vm -> vm.found = 4)) {
            ProjectFilesFixture.out(last.result());
        }
        assertThat(opening(5).memoryMib()).isEqualTo(2048);
    }

    @Test
    void an_opening_makes_the_login_of_the_day_if_there_is_none_and_asks_for_the_key_once() throws Exception {
        join();
        Path fresh = project.memory().resolve("fresh");
        String[] words = ordinary(
                "--create",
                "--make",
                "1G",
                "--recovery",
                at("safe.pub"),
                "--settings",
                settings(),
                "--drive-key",
                at("cat.drive"),
                "--cpus",
                "2",
                "--memory",
                "4G",
                "--days",
                "2");
        words[Arrays.asList(words).indexOf("--login") + 1] = fresh.toString();
        try (UnlockResult made = runUnlock(words)) {
            assertThat(made.result().status()).as(made.result().err()).isZero();
            assertThat(made.result().err()).contains("login of the day: made a new one in " + fresh);
        }
        LoginFolder login = new LoginFolder(fresh);
        assertThat(login.isCurrent(Instant.now())).isTrue();
        assertThat(login.isCurrent(Instant.now().plus(Duration.ofHours(25))))
                .as("after its end")
                .isFalse();
        byte[] before = Files.readAllBytes(fresh.resolve("opener.pem"));
        words = ordinary();
        words[Arrays.asList(words).indexOf("--login") + 1] = fresh.toString();
        try (UnlockResult again = runUnlock(words, vm -> vm.found = 1)) {
            ProjectFilesFixture.out(again.result());
        }
        assertThat(fresh.resolve("opener.pem")).hasBinaryContent(before);
    }

    @Test
    @SuppressWarnings("try") // what reads the paper is open only to have a number
    void the_first_opening_makes_the_drive_key_and_prints_a_recovery_key_that_opens_the_drive() throws Exception {
        join();
        Path key = folder.resolve("config/cloister").resolve(history.id()).resolve("drive.key");
        Files.deleteIfExists(key);
        Digest driveKey;
        Path paper =
                Files.createFile(folder.resolve("printed-" + relay.address().hashCode()));
        try (FileOutputStream printer = new FileOutputStream(paper.toFile())) {
            String[] first = ordinary(
                    "--create",
                    "--make",
                    "1G",
                    "--recovery-fd",
                    Cli.descriptor(paper),
                    "--settings",
                    settings(),
                    "--cpus",
                    "2",
                    "--memory",
                    "4G",
                    "--days",
                    "2");
            try (UnlockResult made = runUnlock(first)) {
                assertThat(ProjectFilesFixture.out(made.result())).contains("open");
                driveKey = made.vm().key();
            }
            String text = Files.readString(paper);
            assertThat(text).endsWith("\n").hasSizeGreaterThan(40);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
                    .isEqualTo("rw-------");
            try (UnlockResult again = runUnlock(first, vm -> vm.found = 1)) {
                ProjectFilesFixture.out(again.result());
            }
            assertThat(paper).as("one envelope, one recovery key").hasContent(text);
        }
        try (FileInputStream typed = new FileInputStream(paper.toFile())) {
            String[] recovered = ordinary("--recovery-key", "--drive-secret-fd", Cli.descriptor(paper));
            CompletableFuture<Cli.Result> result = CompletableFuture.supplyAsync(() -> {
                try {
                    return project.cli.runWithSecret(recovered);
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
                assertThat(vm.key()).isEqualTo(driveKey);
            }
        }
    }

    @Test
    void a_recovery_key_is_not_promised_for_an_envelope_that_has_none() throws Exception {
        join();
        List<String> first = new ArrayList<>(List.of(ordinary("--create", "--make", "1G")));
        first.addAll(List.of("--recipient", "eve=" + at("eve.drive.pub"), "--settings", settings()));
        first.addAll(List.of("--drive-key", at("cat.drive"), "--cpus", "2", "--memory", "4G", "--days", "2"));
        try (UnlockResult made = runUnlock(first.toArray(String[]::new))) {
            ProjectFilesFixture.out(made.result());
        }
        first.addAll(List.of("--recovery-fd", "1"));
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(first.toArray(String[]::new)),
                "want an envelope with a recovery key, have one of an earlier attempt without");
        first.addAll(List.of("--recovery", at("safe.pub")));
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(first.toArray(String[]::new)),
                "want --recovery or --recovery-fd, have both");
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(ordinary("--recovery-fd", "1")), "--recovery-fd need --create");
    }

    @Test
    void the_first_opening_of_a_drive_names_what_it_lacks() throws Exception {
        join();
        Cli.Result result = project.cli.runWithSecrets(ordinary("--cpus", "2", "--memory", "4G"));
        assertThat(result.status()).isEqualTo(64);
        assertThat(result.err())
                .contains("missing option --days: the first opening of a drive on this device needs it");
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(ordinary("--cpus", "2", "--memory", "4G", "--days", "1")),
                "drive: want --drive-key");
        assertThat(relay.acceptedOpenings()).isEmpty();
    }

    @Test
    void damaged_defaults_are_named_with_what_to_do() throws Exception {
        join();
        Path file = Files.createDirectories(state.resolve("drives/main")).resolve("defaults");
        Files.writeString(file, "{\"format\":\"cloister-opening-defaults-v1\",\"cpus\":0}");
        ProjectFilesFixture.refused(
                project.cli.runWithSecrets(ordinary()),
                file + ": cpus: want an integer from 1 to 2147483647, have 0; delete it");
    }
}
