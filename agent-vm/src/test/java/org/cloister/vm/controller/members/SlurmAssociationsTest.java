package org.cloister.vm.controller.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A script stands where sacctmgr would: it says what real ones said, and writes down what it was asked. */
class SlurmAssociationsTest {
    private static final ProjectMembers MEMBERS =
            new ProjectMembers(List.of(new ProjectMember("ada", 2001, 2001), new ProjectMember("bob", 2002, 2002)));

    @TempDir
    private Path folder;

    private SlurmAssociations associations(String clusters, String known, String onAdd) throws IOException {
        Files.writeString(folder.resolve("clusters"), clusters);
        Files.writeString(folder.resolve("known"), known);
        Files.deleteIfExists(folder.resolve("asked"));
        Path file = Files.writeString(folder.resolve("sacctmgr"), """
                #!/bin/sh
                cd %s
                case "$*" in
                  *' list cluster '*) exec cat clusters ;;
                  *' list associations '*) exec cat known ;;
                esac
                echo "$*" >>asked
                %s
                """.formatted(folder, onAdd));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new SlurmAssociations(
                new SlurmCommand(Optional.of(folder), Optional.empty(), Duration.ofSeconds(30)), "project");
    }

    private List<String> asked() throws IOException {
        Path callsFile = folder.resolve("asked");
        return Files.exists(callsFile) ? Files.readAllLines(callsFile) : List.of();
    }

    @Test
    void a_new_slurmdbd_is_told_everything() throws IOException {
        associations("", "", "").add(MEMBERS);
        assertThat(asked())
                .containsExactly(
                        "-i add cluster project",
                        "-i add account project cluster=project description=project organization=project",
                        "-i add user ada,bob account=project cluster=project");
    }

    @Test
    void only_what_is_missing_is_added() throws IOException {
        associations("project\n", "root|\nroot|root\nproject|\nproject|ada\n", "")
                .add(MEMBERS);
        assertThat(asked()).containsExactly("-i add user bob account=project cluster=project");
        associations("project\n", "project|\nproject|ada\nproject|bob\n", "").add(MEMBERS);
        assertThat(asked()).isEmpty();
    }

    @Test
    void a_user_of_another_account_is_none_of_the_projects() throws IOException {
        associations("project\n", "project|\nother|\nother|ada\nproject|bob\n", "")
                .add(MEMBERS);
        assertThat(asked()).containsExactly("-i add user ada account=project cluster=project");
    }

    @Test
    void what_another_one_added_in_between_is_no_error_and_a_refusal_is() throws IOException {
        // Of 22.05.8; of 24.11.5 and 26.05.5, for a user and for an account.
        for (String text : List.of(" Nothing new added.", "Nothing added.", " Already existing account project")) {
            associations("", "", "echo '" + text + "'; exit 1").add(MEMBERS);
        }
        SlurmAssociations refused = associations("", "", "echo \" Your user/uid is not known\"; exit 1");
        assertThatThrownBy(() -> refused.add(MEMBERS))
                .isInstanceOf(SlurmRefusedException.class)
                .hasMessage("sacctmgr add cluster project: Your user/uid is not known");
    }

    @Test
    void a_slurmdbd_that_is_away_is_asked_nothing_more() throws IOException {
        SlurmAssociations away = associations("", "", "");
        Files.writeString(folder.resolve("sacctmgr"), "#!/bin/sh\necho 'sacctmgr: error: down' >&2; exit 1\n");
        assertThatThrownBy(() -> away.add(MEMBERS))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("down");
        assertThat(asked()).isEmpty();
    }

    @Test
    void clusters_names_that_are_more_than_a_word_are_refused() {
        SlurmCommand slurm = new SlurmCommand(Optional.of(folder), Optional.empty(), Duration.ofSeconds(30));
        for (String bad : List.of("", "-i", "a b", "a,b", "a=b", "A", "a\n")) {
            assertThatThrownBy(() -> new SlurmAssociations(slurm, bad))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
