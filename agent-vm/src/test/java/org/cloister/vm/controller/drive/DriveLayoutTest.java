package org.cloister.vm.controller.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.cloister.vm.system.volume.DisksBySerial;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriveLayoutTest {
    @TempDir
    private Path folder;

    private int us;
    private DaemonAccount own;
    private DriveLayout layout;

    @BeforeEach
    void look() throws IOException {
        us = (int) Files.getAttribute(folder, "unix:uid");
        own = new DaemonAccount("own", us, (int) Files.getAttribute(folder, "unix:gid"));
        layout = new DriveLayout(folder);
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    void what_daemons_keep_nobody_else_enters() throws IOException {
        layout.createFolders(us, own, own);
        for (Path each :
                new Path[] {layout.agentFolder(), layout.slurmState(), layout.databaseFolder(), layout.nfsState()}) {
            assertThat(mode(each)).as(each.toString()).isEqualTo("rwx------");
            assertThat(mode(each.resolve(".."))).isEqualTo("rwx--x--x");
        }
        assertThat(mode(layout.homes())).isEqualTo("rwxr-xr-x");
        assertThat(mode(layout.receipts())).isEqualTo("rwxr-xr-x");
        assertThat(mode(layout.exportLog())).isEqualTo("rwxr-xr-x");
    }

    @Test
    void modes_that_somebody_changed_are_set_again_but_softwares_are_its_administrators() throws IOException {
        layout.createFolders(us, own, own);
        Files.setPosixFilePermissions(layout.agentFolder(), PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(layout.software(), PosixFilePermissions.fromString("rwxrwxr-x"));
        layout.createFolders(us, own, own);
        assertThat(mode(layout.agentFolder())).isEqualTo("rwx------");
        assertThat(mode(layout.software())).isEqualTo("rwxrwxr-x");
    }

    /** Where this runs as root, as the build of a release does: only root gives files away. */
    @Test
    void what_the_first_release_left_of_slurmctlds_becomes_its_accounts_even_when_that_was_cut_short()
            throws IOException {
        assumeTrue(us == 0, "only root gives files away");
        DaemonAccount slurm = new DaemonAccount("slurm", 64_030, 64_031);
        layout.createFolders(us, own, own);
        Path outside = Files.createFile(folder.resolve("outside"));
        Path hash = layout.slurmState().resolve("hash.1");
        Path script =
                Files.createFile(Files.createDirectories(hash.resolve("job.11")).resolve("script"));
        Path link = Files.createSymbolicLink(layout.slurmState().resolve("link"), outside);
        // As a kill left it.
        Path done = Files.createFile(layout.slurmState().resolve("job_state"));
        Files.setAttribute(done, "unix:uid", slurm.uid());
        layout.createFolders(us, own, slurm);
        for (Path each : new Path[] {layout.slurmState(), done, hash, hash.resolve("job.11"), script, link}) {
            assertThat(Files.readAttributes(each, "unix:uid,gid", LinkOption.NOFOLLOW_LINKS))
                    .as(each.toString())
                    .containsEntry("uid", slurm.uid())
                    .containsEntry("gid", slurm.gid());
        }
        assertThat(Files.getAttribute(outside, "unix:uid"))
                .as("what a link leads to")
                .isEqualTo(0);
        assertThat(mode(layout.slurmState())).isEqualTo("rwx------");
        // Now it is the account's to write to, and nothing in it is touched by root any more.
        Path roots = Files.createFile(layout.slurmState().resolve("roots"));
        layout.createFolders(us, own, slurm);
        assertThat(Files.getAttribute(roots, "unix:uid")).isEqualTo(0);
    }

    @Test
    void a_link_in_a_folders_place_is_not_followed() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(layout.homes(), elsewhere);
        assertThatThrownBy(() -> layout.createFolders(us, own, own)).hasMessageContaining("want a folder");
    }

    @Test
    void a_disk_is_found_by_its_serial_and_by_nothing_else() throws IOException {
        DisksBySerial disks = new DisksBySerial(folder);
        for (String name : new String[] {"vda", "vdb", "loop0"}) {
            Files.createDirectory(folder.resolve(name));
        }
        Files.writeString(folder.resolve("vda/serial"), "layer-base");
        assertThatThrownBy(() -> DriveDisk.find(disks))
                .isInstanceOfSatisfying(
                        DriveOpenRefused.class,
                        refused -> assertThat(refused.reason()).hasToString("no-disk"));
        Files.writeString(folder.resolve("vdb/serial"), "drive");
        assertThat(DriveDisk.find(disks)).isEqualTo(Path.of("/dev/vdb"));
        Files.writeString(folder.resolve("vda/serial"), "drive");
        assertThatThrownBy(() -> DriveDisk.find(disks)).hasMessageContaining("want one");
    }

    @Test
    void each_refusal_is_a_word_that_the_opener_is_told() {
        for (DriveOpenRefused.Reason each : DriveOpenRefused.Reason.values()) {
            assertThat(each.toString()).matches("[a-z-]{1,40}");
        }
    }
}
