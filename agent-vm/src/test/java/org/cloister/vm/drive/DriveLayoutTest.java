package org.cloister.vm.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.vm.machine.Disks;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriveLayoutTest {
    @TempDir
    private Path folder;

    private int us;
    private int group;
    private DriveLayout layout;

    @BeforeEach
    void look() throws IOException {
        us = (int) Files.getAttribute(folder, "unix:uid");
        group = (int) Files.getAttribute(folder, "unix:gid");
        layout = new DriveLayout(folder);
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    void what_daemons_keep_nobody_else_enters() throws IOException {
        layout.make(us, us, group);
        for (Path each : new Path[] {layout.agent(), layout.slurm(), layout.database(), layout.nfs()}) {
            assertThat(mode(each)).as(each.toString()).isEqualTo("rwx------");
            assertThat(mode(each.resolve(".."))).isEqualTo("rwx--x--x");
        }
        assertThat(mode(layout.homes())).isEqualTo("rwxr-xr-x");
        assertThat(mode(layout.receipts())).isEqualTo("rwxr-xr-x");
        assertThat(mode(layout.exports())).isEqualTo("rwxr-xr-x");
    }

    @Test
    void modes_that_somebody_changed_are_set_again_but_softwares_are_its_administrators() throws IOException {
        layout.make(us, us, group);
        Files.setPosixFilePermissions(layout.agent(), PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(layout.software(), PosixFilePermissions.fromString("rwxrwxr-x"));
        layout.make(us, us, group);
        assertThat(mode(layout.agent())).isEqualTo("rwx------");
        assertThat(mode(layout.software())).isEqualTo("rwxrwxr-x");
    }

    @Test
    void a_link_in_a_folders_place_is_not_followed() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(layout.homes(), elsewhere);
        assertThatThrownBy(() -> layout.make(us, us, group)).hasMessageContaining("want a folder");
    }

    @Test
    void a_disk_is_found_by_its_serial_and_by_nothing_else() throws IOException {
        Disks disks = new Disks(folder);
        for (String name : new String[] {"vda", "vdb", "loop0"}) {
            Files.createDirectory(folder.resolve(name));
        }
        Files.writeString(folder.resolve("vda/serial"), "layer-base");
        assertThatThrownBy(() -> DriveDisk.find(disks))
                .isInstanceOfSatisfying(
                        DriveRefused.class, refused -> assertThat(refused.why()).hasToString("no-disk"));
        Files.writeString(folder.resolve("vdb/serial"), "drive");
        assertThat(DriveDisk.find(disks)).isEqualTo(Path.of("/dev/vdb"));
        Files.writeString(folder.resolve("vda/serial"), "drive");
        assertThatThrownBy(() -> DriveDisk.find(disks)).hasMessageContaining("want one");
    }

    @Test
    void each_refusal_is_a_word_that_the_opener_is_told() {
        for (DriveRefused.Why each : DriveRefused.Why.values()) {
            assertThat(each.toString()).matches("[a-z-]{1,40}");
        }
    }
}
