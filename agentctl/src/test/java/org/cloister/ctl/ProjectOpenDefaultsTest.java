package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
