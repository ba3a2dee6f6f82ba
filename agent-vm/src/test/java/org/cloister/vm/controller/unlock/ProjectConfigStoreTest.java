package org.cloister.vm.controller.unlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.vm.controller.config.ProjectSettings;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the next opening finds what an opening stored. */
class ProjectConfigStoreTest {
    private static final String SETTINGS = "[[shape]]\nhosts = 4\ncpus = 16\nmemory-mib = 65536\n";

    @TempDir
    private Path folder;

    private ProjectConfigStore project = new ProjectConfigStore(Path.of(""));

    @BeforeEach
    void setUp() {
        project = new ProjectConfigStore(folder.resolve("project"));
    }

    private static String member(String login, int uid) {
        return "[[member]]\nlogin = \"" + login + "\"\nuid = " + uid + "\ngid = 2000\n";
    }

    private static OpeningFiles files(Optional<String> members, Optional<String> settings) throws IOException {
        Optional<OpeningFiles.ParsedFile<ProjectMembers>> who = Optional.empty();
        if (members.isPresent()) {
            byte[] bytes = members.get().getBytes(StandardCharsets.UTF_8);
            who = Optional.of(new OpeningFiles.ParsedFile<>(
                    ByteString.copyFrom(bytes), ProjectMembers.read(Path.of("m"), bytes)));
        }
        Optional<OpeningFiles.ParsedFile<ProjectSettings>> how = Optional.empty();
        if (settings.isPresent()) {
            byte[] bytes = settings.get().getBytes(StandardCharsets.UTF_8);
            how = Optional.of(new OpeningFiles.ParsedFile<>(
                    ByteString.copyFrom(bytes), ProjectSettings.read(Path.of("s"), bytes)));
        }
        return new OpeningFiles(who, how);
    }

    private void refuses(OpeningFiles files, UnlockRefusal why, String text) {
        assertThatThrownBy(() -> project.update(files))
                .hasMessageContaining(text)
                .isInstanceOfSatisfying(
                        UnlockRefused.class,
                        refused -> assertThat(refused.word()).isEqualTo(why.toString()));
    }

    @Test
    void what_was_brought_is_what_later_openings_find() throws Exception {
        ProjectConfigStore.ProjectConfig first =
                project.update(files(Optional.of(member("ada", 2001)), Optional.of(SETTINGS + "# mine\n")));
        ProjectConfigStore.ProjectConfig later =
                new ProjectConfigStore(folder.resolve("project")).update(files(Optional.empty(), Optional.empty()));
        assertThat(later).isEqualTo(first);
        assertThat(later.members().list()).containsExactly(new ProjectMember("ada", 2001, 2000));
        assertThat(Files.readString(project.membersFile())).isEqualTo(member("ada", 2001));
        assertThat(Files.readString(project.membersFile().resolveSibling("controller.toml")))
                .endsWith("# mine\n");
    }

    @Test
    void a_drive_without_settings_is_refused_and_one_without_members_has_nobody() throws Exception {
        refuses(files(Optional.of(member("ada", 2001)), Optional.empty()), UnlockRefusal.NO_SETTINGS, "--settings");
        assertThat(folder).as("nothing is kept").isEmptyDirectory();
        assertThat(project.update(files(Optional.empty(), Optional.of(SETTINGS)))
                        .members()
                        .list())
                .isEmpty();
    }

    @Test
    void one_is_replaced_without_the_other() throws Exception {
        project.update(files(Optional.of(member("ada", 2001)), Optional.of(SETTINGS)));
        ProjectConfigStore.ProjectConfig config =
                project.update(files(Optional.empty(), Optional.of(SETTINGS.replace("hosts = 4", "hosts = 9"))));
        assertThat(config.members().list()).hasSize(1);
        assertThat(config.settings().queue().shapes().get(0).hosts()).isEqualTo(9);
        assertThat(project.update(files(Optional.of(""), Optional.empty()))
                        .members()
                        .list())
                .isEmpty();
    }

    @Test
    void a_uid_is_never_anothers_after_its_member_left_and_comes_back_with_its_member() throws Exception {
        project.update(files(Optional.of(member("ada", 2001)), Optional.of(SETTINGS)));
        project.update(files(Optional.of(member("bob", 2002)), Optional.empty()));
        refuses(
                files(Optional.of(member("eve", 2001)), Optional.empty()),
                UnlockRefusal.UIDS,
                "uid of eve: want one that nobody else had, have 2001, which was ada's");
        refuses(
                files(Optional.of(member("ada", 2003)), Optional.empty()),
                UnlockRefusal.UIDS,
                "uid of ada: want 2001, which owns the member's files, have 2003");
        assertThat(project.update(files(Optional.empty(), Optional.empty()))
                        .members()
                        .list())
                .as("what was refused is not kept")
                .containsExactly(new ProjectMember("bob", 2002, 2000));
        assertThat(project.update(files(Optional.of(member("ada", 2001)), Optional.empty()))
                        .members()
                        .list())
                .hasSize(1);
    }

    @Test
    void what_is_kept_and_does_not_read_is_said_by_its_word_and_no_uid_is_given_when_the_others_are_not_known()
            throws Exception {
        project.update(files(Optional.of(member("ada", 2001)), Optional.of(SETTINGS)));
        Files.writeString(project.membersFile(), "[[member]]\n");
        refuses(files(Optional.empty(), Optional.empty()), UnlockRefusal.MEMBERS, "login: missing");
        Files.writeString(project.membersFile().resolveSibling("uids"), "2001 ada\n2001 eve\n");
        assertThatThrownBy(() -> project.update(files(Optional.of(member("eve", 2001)), Optional.empty())))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("uids:2: want a new uid and its login");
    }
}
