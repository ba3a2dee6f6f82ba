package org.cloister.vm.controller.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.vm.system.users.ProjectMember;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests members' homes: as root all of them, otherwise for a member with the test's own number. */
class MemberHomesTest {
    @TempDir
    private Path storage = Path.of("");

    private Path folder = Path.of("");
    private int us;
    private ProjectMember ada = new ProjectMember("ada", 2001, 2002);

    @BeforeEach
    void find() throws IOException {
        folder = storage.resolve("home");
        us = (int) Files.getAttribute(storage, "unix:uid");
        if (us != 0) {
            assumeTrue(us >= LoginRules.LEAST_ID && us <= LoginRules.MOST_ID, "a uid that a member may have");
            ada = new ProjectMember("ada", us, us);
        }
        Files.setPosixFilePermissions(storage, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private MemberHomes homes() {
        return new MemberHomes(folder, us);
    }

    private static int attribute(String name, Path path) throws IOException {
        return (int) Files.getAttribute(path, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
    }

    private void assertHome(int mode) throws IOException {
        assertThat(attribute("uid", folder.resolve("ada"))).isEqualTo(ada.uid());
        assertThat(attribute("mode", folder.resolve("ada")) & 07777).isEqualTo(mode);
    }

    private void assertRefused(String why) {
        assertThatThrownBy(() -> homes().createHome(ada))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
    }

    @Test
    void a_home_is_its_members_alone() throws IOException {
        homes().createHome(ada);
        assertHome(0700);
        assumeTrue(us == 0);
        assertThat(attribute("gid", folder.resolve("ada"))).isEqualTo(ada.gid());
        assertThat(attribute("mode", folder) & 0777).isEqualTo(0755);
    }

    @Test
    void a_home_that_is_there_keeps_its_files_and_its_mode() throws IOException {
        homes().createHome(ada);
        Path home = folder.resolve("ada");
        Files.writeString(home.resolve("file"), "x");
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxr-x---"));
        homes().createHome(ada);
        assertHome(0750);
        assertThat(home.resolve("file")).hasContent("x");
    }

    @Test
    void a_home_left_half_made_is_finished() throws IOException {
        assumeTrue(us == 0);
        Files.createDirectories(folder.resolve("ada"));
        homes().createHome(ada);
        assertHome(0700);
    }

    @Test
    void a_link_in_a_homes_place_is_refused_and_its_target_untouched() throws IOException {
        Path target = Files.createDirectory(storage.resolve("target"));
        int mode = attribute("mode", target);
        Files.createDirectory(folder);
        Files.createSymbolicLink(folder.resolve("ada"), target);
        assertRefused("want a folder");
        assertThat(attribute("uid", target)).isEqualTo(us);
        assertThat(attribute("mode", target)).isEqualTo(mode);
        Files.delete(folder.resolve("ada"));
        Files.writeString(folder.resolve("ada"), "x");
        assertRefused("want a folder");
    }

    @Test
    void a_link_in_place_of_the_folder_of_homes_is_refused() throws IOException {
        Path target = Files.createDirectory(storage.resolve("target"));
        Files.createSymbolicLink(folder, target);
        assertRefused("alone writes to");
        assertThat(target).isEmptyDirectory();
    }

    @Test
    void nothing_is_made_where_others_may_write() throws IOException {
        Files.createDirectory(folder);
        for (Path open : new Path[] {folder, storage}) {
            for (String mode : new String[] {"rwxrwxr-x", "rwxr-xrwx"}) {
                Files.setPosixFilePermissions(open, PosixFilePermissions.fromString(mode));
                assertRefused("alone writes to");
                Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void a_home_of_another_one_is_left_alone() throws IOException {
        assumeTrue(us == 0);
        Files.createDirectories(folder.resolve("ada"));
        Files.setAttribute(folder.resolve("ada"), "unix:uid", 2999);
        assertRefused("have owner 2999");
        assertThat(attribute("uid", folder.resolve("ada"))).isEqualTo(2999);
        Files.setAttribute(folder.resolve("ada"), "unix:uid", 0);
        Files.writeString(folder.resolve("ada/file"), "root's");
        assertRefused("an empty one of ours");
    }

    @Test
    void a_shared_folder_is_everybodys_to_read_and_left_as_its_administrators_have_it() throws IOException {
        homes().createSharedFolder("software");
        Path software = storage.resolve("software");
        assertThat(attribute("mode", software) & 07777).isEqualTo(0755);
        Files.setPosixFilePermissions(software, PosixFilePermissions.fromString("rwxrwxr-x"));
        homes().createSharedFolder("software");
        assertThat(attribute("mode", software) & 07777).isEqualTo(0775);
    }

    @Test
    void a_link_in_a_shared_folders_place_is_refused() throws IOException {
        Files.createSymbolicLink(storage.resolve("software"), storage);
        assertThatThrownBy(() -> homes().createSharedFolder("software"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("want a folder, have something else");
    }
}
