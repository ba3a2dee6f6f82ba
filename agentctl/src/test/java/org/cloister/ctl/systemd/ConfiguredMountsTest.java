package org.cloister.ctl.systemd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfiguredMountsTest {
    private static final Path FOLDER = Path.of("/srv/cloister/drives");
    private static final String ROOT = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n";
    private static final String NFS = "2 1 0:50 / %s rw - nfs4 nas:/drives rw,hard\n";
    private static final String AUTOFS = "3 1 0:51 / %s rw - autofs systemd-1 rw\n";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path root;

    @BeforeEach
    void setUp() throws IOException {
        Files.createDirectories(root.resolve("etc/systemd/system"));
    }

    private ConfiguredMounts mounts(String mountinfo) throws IOException {
        return new ConfiguredMounts(
                new SystemdUnits(root, ProcessRunner.local()), MountedFileSystem.parse(ROOT + mountinfo));
    }

    private void fstab(String lines) throws IOException {
        Files.writeString(root.resolve("etc/fstab"), lines);
    }

    private void refused(String mountinfo, String at) throws IOException {
        ConfiguredMounts mounts = mounts(mountinfo);
        assertThatThrownBy(() -> mounts.require(FOLDER))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("want its file system mounted, have none at " + at + ",", "mount " + at);
    }

    @Test
    void a_folder_that_nothing_is_configured_for_is_of_the_file_system_around_it() throws IOException {
        fstab(
                "# /srv/cloister/drives\n/dev/sda1 / ext4 defaults 0 1\n/dev/sda2 none swap sw 0 0\n/dev/sdb /srv/clois\n");
        assertThat(mounts("").require(FOLDER).type()).isEqualTo("ext4");
        assertThat(mounts(NFS.formatted("/srv/cloister/drives2"))
                        .require(FOLDER)
                        .type())
                .isEqualTo("ext4");
        assertThat(mounts(NFS.formatted("/srv")).require(FOLDER).type()).isEqualTo("nfs4");
    }

    @Test
    void what_fstab_lists_must_be_mounted_at_the_folder_or_above_it() throws IOException {
        for (String at : new String[] {"/srv/cloister/drives", "/srv/cloister/drives/", "/srv/cloister"}) {
            fstab("/dev/sda1 / ext4 defaults 0 1\n  nas:/drives \t" + at + " nfs4 hard,noauto 0 0\n");
            String place = at.replaceFirst("/$", "");
            refused("", place);
            refused(NFS.formatted("/srv"), place);
            assertThat(mounts(NFS.formatted(place)).require(FOLDER).type()).isEqualTo("nfs4");
        }
    }

    @Test
    void an_escaped_place_of_fstab_is_read() throws IOException {
        fstab("nas:/drives /srv/\\143loister nfs4 hard 0 0\n");
        refused("", "/srv/cloister");
    }

    @Test
    void what_a_unit_mounts_must_be_mounted() throws IOException {
        for (String unit : new String[] {
            "etc/systemd/system/srv-cloister-drives.mount",
            "usr/lib/systemd/system/srv-cloister-drives.automount",
            "run/systemd/generator/srv-cloister-drives.mount"
        }) {
            Path file = root.resolve(unit);
            Files.createDirectories(file.resolveSibling("."));
            Files.writeString(file, "[Mount]\nWhere=/srv/cloister/drives\n");
            refused("", "/srv/cloister/drives");
            assertThat(mounts(NFS.formatted("/srv/cloister/drives"))
                            .require(FOLDER)
                            .type())
                    .isEqualTo("nfs4");
            Files.delete(file);
        }
        assertThat(mounts("").require(FOLDER).type()).isEqualTo("ext4");
    }

    @Test
    void an_automounter_that_waits_is_no_mount() throws IOException {
        String waiting = AUTOFS.formatted("/srv/cloister");
        refused(waiting, "/srv/cloister");
        fstab("nas:/drives /srv/cloister nfs4 hard,x-systemd.automount 0 0\n");
        refused(waiting, "/srv/cloister");
        assertThat(mounts(waiting + NFS.formatted("/srv/cloister"))
                        .require(FOLDER)
                        .type())
                .isEqualTo("nfs4");
    }

    @Test
    void names_of_units_are_those_of_systemd_escape() throws IOException {
        for (String path :
                new String[] {"/srv/cloister/drives", "/srv/my-drives/a_b", "/.hidden/x.y", "/a@b/c+d~e:f", "/"}) {
            assertThat(ConfiguredMounts.escape(Path.of(path)))
                    .isEqualTo(ProcessRunner.local()
                            .runChecked("systemd-escape", "--path", path)
                            .strip());
        }
    }
}
