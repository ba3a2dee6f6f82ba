package org.cloister.vm.system.users;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.daemon.InvalidConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProjectMembersTest {
    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("members.toml"), text);
    }

    private static String table(String login, int uid) {
        return "[[member]]\nlogin = \"" + login + "\"\nuid = " + uid + "\ngid = 2000\n";
    }

    @Test
    void members_come_in_the_files_order_and_may_share_a_group() throws IOException {
        assertThat(ProjectMembers.load(file(table("zoe", 2001) + table("ada", 2000)))
                        .list())
                .containsExactly(new ProjectMember("zoe", 2001, 2000), new ProjectMember("ada", 2000, 2000));
    }

    @Test
    void the_sample_shows_a_member() throws IOException {
        String sample =
                Files.readString(Path.of(System.getProperty("cloister.root"), "agent-vm/src/main/config/members.toml"));
        assertThat(ProjectMembers.load(file(sample)).list()).isEmpty();
        assertThat(ProjectMembers.load(file(sample.replaceAll("(?m)^#(\\[|[a-z]+ = )", "$1")))
                        .list())
                .containsExactly(new ProjectMember("ada", 2001, 2001, Optional.of("ada7")));
    }

    @Test
    void a_file_without_members_is_a_project_without_users() throws IOException {
        assertThat(ProjectMembers.load(file("# nobody yet\n")).list()).isEmpty();
    }

    @Test
    void all_problems_come_at_once_with_their_lines() throws IOException {
        Path file = file(table("ada", 2000)
                + table("ada", 2001)
                + table("bob", 2000)
                + table("root", 2002)
                + table("slurm", 2003)
                + table("eve:x", 2004)
                + table("kim", 999)
                + "[[member]]\nlogin = \"lee\"\nuid = 2005\nhome = \"/\"\n");
        assertThat(
                        catchThrowableOfType(InvalidConfigException.class, () -> ProjectMembers.load(file))
                                .problems()
                                .stream()
                                .map(each -> each.replace(file.toString(), "F")))
                .containsExactly(
                        "F:6: member[1].login: login: want each once, have ada twice",
                        "F:10: member[2].login: uid of bob: want each once, have 2000 twice",
                        "F:14: member[3].login: login: want none of the system's names, have root",
                        "F:18: member[4].login: login: want none of the system's names, have slurm",
                        "F:22: member[5].login: login: want a lower-case letter, and up to 30 letters, digits, _ or -,"
                                + " have \"eve:x\"",
                        "F:27: member[6].uid: want 1000 to 60000, have 999",
                        "F:29: member[7].gid: missing",
                        "F:32: member[7].home: unknown key; known: login, uid, gid, person");
    }

    @Test
    void only_logins_that_every_program_takes_are_taken() {
        for (String bad : List.of(
                "",
                "-a",
                "1a",
                "_a",
                "Ada",
                "a.b",
                "a b",
                "a\nb",
                "a:b",
                "a,b",
                "a/b",
                "..",
                "ada$",
                "\u00e9ve",
                "a".repeat(32))) {
            assertThatThrownBy(() -> new ProjectMember(bad, 2000, 2000))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(new ProjectMember("a" + "0".repeat(30), 1000, 60_000).uid()).isEqualTo(1000);
    }

    @Test
    void both_ends_of_the_numbers_are_held() {
        for (int bad : new int[] {-1, 0, 999, 60_001, 65_534}) {
            assertThatThrownBy(() -> new ProjectMember("ada", bad, 2000)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> new ProjectMember("ada", 2000, bad)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void daemons_names_are_no_members() {
        for (String bad : List.of("root", "slurm", "munge", "systemd-network", "cloister-relay")) {
            assertThatThrownBy(() -> new ProjectMembers(List.of(new ProjectMember(bad, 2000, 2000))))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void a_person_has_one_login_and_who_has_none_does_not_come() throws IOException {
        ProjectMembers members = new ProjectMembers(List.of(
                new ProjectMember("ada", 2000, 2000, Optional.of("ada7")), new ProjectMember("bob", 2001, 2000)));
        assertThat(members.ofPerson("ada7")).contains(members.list().get(0));
        assertThat(members.ofPerson("bob")).isEmpty();
        for (String bad : List.of("", "Ada", "a.b", "-a", "a-", "a".repeat(64), "a\n")) {
            assertThatThrownBy(() -> new ProjectMember("ada", 2000, 2000, Optional.of(bad)))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new ProjectMembers(List.of(
                        new ProjectMember("ada", 2000, 2000, Optional.of("ada7")),
                        new ProjectMember("bob", 2001, 2000, Optional.of("ada7")))))
                .hasMessageContaining("person of bob: want each once, have ada7 twice");
        assertThat(new ProjectMembers(List.of()).ofPerson("ada7")).isEmpty();
    }
}
