package org.cloister.host.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedDrivesTest {
    private static final DriveName DRIVE = DriveSamples.DRIVE;

    @TempDir
    private Path folder;

    private SharedDrives first;
    private SharedDrives second;
    private SharedDrives third;

    @BeforeEach
    void open() throws Exception {
        DriveSamples.storage(folder);
        first = DriveSamples.host(folder, 1);
        second = DriveSamples.host(folder, 2);
        third = DriveSamples.host(folder, 3);
    }

    private static LeaseHolder holder(SharedDrives host, int epoch) {
        return host.holder(epoch, DriveSamples.opening(epoch));
    }

    private static boolean acquire(SharedDrives host, int epoch, LeaseWait wait) throws Exception {
        return host.acquire(DRIVE, holder(host, epoch), DriveSamples.MIB, wait);
    }

    private static boolean release(SharedDrives host, int epoch) {
        try {
            host.release(DRIVE, holder(host, epoch));
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path lease() {
        return DRIVE.lease(folder);
    }

    @Test
    void the_first_has_the_drive_at_once_and_it_is_sparse_and_private() throws Exception {
        ManualLeaseWait clock = new ManualLeaseWait();
        assertThat(acquire(first, 7, clock)).isTrue();
        assertThat(clock.pauses()).isZero();
        Path image = first.image(DRIVE);
        assertThat(image)
                .isEqualTo(folder.resolve(DRIVE.project()).resolve("main.img"))
                .hasSize(DriveSamples.MIB << 20);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(image)))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(image.getParent())))
                .isEqualTo("rwx--x--x");
        assertThat(Files.readString(lease()))
                .isEqualTo("{\"format\":\"cloister-drive-lease/1\",\"epoch\":7,\"host\":"
                        + "\"h1.host.site.cloister.internal\",\"opening\":\"" + DriveSamples.opening(7)
                        + "\",\"seconds\":60}");
        assertThat(first.isHeld(DRIVE, holder(first, 7))).isTrue();
        assertThat(second.isHeld(DRIVE, holder(second, 7))).isFalse();
    }

    @Test
    void a_drive_that_is_there_stays_as_it_is_and_one_that_has_to_be_there_is_not_made() throws Exception {
        assertThatThrownBy(() -> first.acquire(DRIVE, holder(first, 1), 0, new ManualLeaseWait()))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("does not exist");
        assertThat(lease()).doesNotExist();
        acquire(first, 1, new ManualLeaseWait());
        Files.writeString(first.image(DRIVE), "what a VM wrote");
        release(first, 1);
        assertThat(second.acquire(DRIVE, holder(second, 2), 0, new ManualLeaseWait()))
                .isTrue();
        release(second, 2);
        assertThat(acquire(first, 3, new ManualLeaseWait())).isTrue();
        assertThat(first.image(DRIVE)).hasContent("what a VM wrote");
    }

    @Test
    void no_drive_is_made_in_the_place_of_one_that_is_there() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        Path image = first.image(DRIVE);
        Files.writeString(image, "what a VM wrote");
        try (LockedDrive locked = LockedDrive.of(folder, DRIVE)) {
            assertThatThrownBy(() -> locked.createImage(DriveSamples.MIB))
                    .isInstanceOf(FileAlreadyExistsException.class);
        }
        assertThat(image).hasContent("what a VM wrote");
        Files.delete(image);
        release(first, 1);
        assertThat(acquire(second, 2, new ManualLeaseWait())).isTrue();
        assertThat(image).hasSize(DriveSamples.MIB << 20);
        assertThat(image.resolveSibling("main.img.new")).doesNotExist();
    }

    @Test
    void a_drive_that_cannot_be_looked_for_is_not_an_absent_one() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        try (LockedDrive locked = LockedDrive.of(folder, DRIVE)) {
            assertThat(locked.hasImage()).isTrue();
            Path project = folder.resolve(DRIVE.project());
            Files.move(project, folder.resolve("away"));
            assertThat(locked.hasImage()).isFalse();
            Files.createFile(project);
            assertThatThrownBy(locked::hasImage)
                    .isInstanceOf(FileSystemException.class)
                    .hasMessageContaining("Not a directory");
        }
    }

    @Test
    void an_epoch_is_used_by_taking_and_the_same_opening_on_the_same_host_goes_on_with_it() throws Exception {
        acquire(first, 5, new ManualLeaseWait());
        assertThat(acquire(first, 5, new ManualLeaseWait())).isTrue();
        assertThatThrownBy(() -> acquire(second, 5, new ManualLeaseWait()))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("epoch 5 is not later than 5");
        assertThatThrownBy(() -> acquire(second, 4, new ManualLeaseWait()))
                .hasMessageContaining("epoch 4 is not later than 5");
        assertThatThrownBy(
                        () -> first.acquire(DRIVE, first.holder(5, DriveSamples.opening(6)), 1, new ManualLeaseWait()))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED));
        release(first, 5);
        assertThatThrownBy(() -> acquire(first, 5, new ManualLeaseWait()))
                .hasMessageContaining("epoch 5 is not later than 5");
        assertThat(acquire(second, 6, new ManualLeaseWait())).isTrue();
    }

    @Test
    void a_taker_waits_until_the_earlier_holder_lets_go() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        ManualLeaseWait clock = new ManualLeaseWait(pauses -> pauses < 4 || release(first, 1));
        assertThat(acquire(second, 2, clock)).isTrue();
        assertThat(clock.pauses()).isEqualTo(5);
        assertThat(first.isHeld(DRIVE, holder(first, 1))).isFalse();
        assertThat(second.isHeld(DRIVE, holder(second, 2))).isTrue();
    }

    @Test
    void a_holder_that_says_nothing_ages_by_the_takers_own_clock_as_long_as_it_said_itself() throws Exception {
        SharedDrives patient = new SharedDrives(folder, "h9.host.site.cloister.internal", Duration.ofSeconds(90));
        patient.acquire(DRIVE, holder(patient, 1), DriveSamples.MIB, new ManualLeaseWait());
        ManualLeaseWait clock = new ManualLeaseWait();
        assertThat(acquire(second, 2, clock)).isTrue();
        assertThat(clock.pauses()).isEqualTo(90);
        // It is known to be gone from then on.
        release(second, 2);
        ManualLeaseWait next = new ManualLeaseWait();
        assertThat(acquire(third, 3, next)).isTrue();
        assertThat(next.pauses()).isZero();
    }

    @Test
    void a_taker_that_was_killed_waits_anew_and_who_waited_does_not_speak_for_those_before() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        assertThat(acquire(second, 2, new ManualLeaseWait(pauses -> pauses < 50)))
                .isFalse();
        ManualLeaseWait again = new ManualLeaseWait();
        assertThat(acquire(second, 2, again)).isTrue();
        assertThat(again.pauses()).isEqualTo(60);
        // The same with one who lets go without having had the drive: the first may still be there.
        acquire(first, 3, new ManualLeaseWait(pauses -> release(second, 2)));
        acquire(second, 4, new ManualLeaseWait(pauses -> false));
        release(second, 4);
        ManualLeaseWait last = new ManualLeaseWait(pauses -> pauses < 7 || release(first, 3));
        assertThat(acquire(third, 5, last)).isTrue();
        assertThat(last.pauses()).isEqualTo(8);
    }

    @Test
    void a_later_opening_ends_the_waiting() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        ManualLeaseWait clock = new ManualLeaseWait(pauses -> {
            try {
                return acquire(third, 3, new ManualLeaseWait(none -> false)) || pauses < 9;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        assertThatThrownBy(() -> acquire(second, 2, clock))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("a later epoch acquired it");
        assertThat(clock.pauses()).isOne();
        assertThat(second.isHeld(DRIVE, holder(second, 2))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "{\"format\":\"cloister-drive-lease/2\",\"epoch\":1}",
                "{\"format\":\"cloister-drive-lease/1\",\"epoch\":0}",
                "{\"format\":\"cloister-drive-lease/1\",\"epoch\":1,\"epoch\":2}",
                "{\"format\":\"cloister-drive-lease/1\",\"epoch\":1,\"more\":1}",
                "{\"format\":\"cloister-drive-lease/1\",\"epoch\":1,\"host\":\"h\"}",
                "{\"format\":\"cloister-drive-lease/1\",\"epoch\":1,\"opening\":\"abcdefghijklmnop\"}",
                "{\"format\":\"cloister-drive-lease/1\",\"epoch\":1,\"host\":\"h\",\"opening\":\"abcdefghijklmnop\","
                        + "\"seconds\":3601}",
                "{\"format\":\"cloister-drive-lease/1\",\"epoch\":1,\"before\":[{\"epoch\":1,\"host\":\"h\","
                        + "\"opening\":\"abcdefghijklmnop\",\"seconds\":60}]}"
            })
    void a_damaged_lease_is_refused_with_what_mends_it_and_left_as_it_is(String text) throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        Files.writeString(lease(), text);
        StartFailed refused = catchThrowableOfType(StartFailed.class, () -> acquire(second, 2, new ManualLeaseWait()));
        assertThat(refused).hasMessageContaining(lease().toString());
        assertThat(refused.hint()).contains("check on every host that none runs");
        assertThatThrownBy(() -> first.release(DRIVE, holder(first, 1))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> first.isHeld(DRIVE, holder(first, 1))).isInstanceOf(IOException.class);
        assertThat(first.leases().damaged()).singleElement().asString().startsWith(lease() + ": ");
        assertThat(Files.readString(lease())).isEqualTo(text);
    }

    @Test
    void every_beginning_of_a_lease_is_refused() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        acquire(second, 2, new ManualLeaseWait(pauses -> false));
        byte[] whole = Files.readAllBytes(lease());
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> DriveLease.read(cut)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void storage_that_is_not_mounted_has_no_drives_and_gets_none() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        Files.delete(folder.resolve(SharedDrives.MARK));
        assertThatThrownBy(() -> acquire(second, 2, new ManualLeaseWait()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("mount the storage of vm.drives");
        assertThatThrownBy(() -> first.isHeld(DRIVE, holder(first, 1))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> release(first, 1)).isInstanceOf(UncheckedIOException.class);
        assertThatThrownBy(first::leases).isInstanceOf(IOException.class);
    }

    @Test
    void a_lease_that_cannot_be_read_is_not_an_absent_one() throws Exception {
        acquire(first, 1, new ManualLeaseWait());
        Files.delete(lease());
        Files.createDirectory(lease());
        assertThatThrownBy(() -> acquire(second, 2, new ManualLeaseWait())).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> first.isHeld(DRIVE, holder(first, 1))).isInstanceOf(IOException.class);
        Files.delete(lease());
        assertThat(first.isHeld(DRIVE, holder(first, 1))).isFalse();
    }

    @Test
    void a_host_finds_its_own_leases_again() throws Exception {
        DriveName other = new DriveName(DRIVE.project(), "other");
        acquire(first, 1, new ManualLeaseWait());
        acquire(second, 2, new ManualLeaseWait(pauses -> false));
        second.acquire(other, holder(second, 1), 1, new ManualLeaseWait());
        Files.writeString(lease().resolveSibling("No.lease"), "somebody's");
        assertThat(first.leases().ofThisHost()).containsExactly(new SharedDrives.NamedLease(DRIVE, holder(first, 1)));
        assertThat(second.leases().ofThisHost())
                .containsExactlyInAnyOrder(
                        new SharedDrives.NamedLease(DRIVE, holder(second, 2)),
                        new SharedDrives.NamedLease(other, holder(second, 1)));
        release(first, 1);
        assertThat(first.leases()).isEqualTo(new SharedDrives.Leases(List.of(), List.of()));
    }

    @Test
    void takers_without_end_are_refused_before_a_lease_outgrows_its_limit() throws Exception {
        for (int epoch = 1; epoch <= DriveLease.MAX_BEFORE + 1; epoch++) {
            acquire(first, epoch, new ManualLeaseWait(pauses -> false));
        }
        assertThatThrownBy(() -> acquire(second, 99, new ManualLeaseWait()))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("start agent-host on the hosts that it names");
        assertThat(first.leases().ofThisHost()).hasSize(DriveLease.MAX_BEFORE + 1);
    }
}
