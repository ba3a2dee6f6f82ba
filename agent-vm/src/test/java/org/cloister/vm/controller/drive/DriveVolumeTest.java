package org.cloister.vm.controller.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.ForgedHeader;
import org.cloister.luks.volume.LuksVolume;
import org.cloister.luks.volume.VolumeException;
import org.cloister.luks.volume.VolumeFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A drive's header in a file, by the real libcryptsetup; what needs a kernel with device-mapper runs in a guest. */
@Tag("boundary")
class DriveVolumeTest {
    private static final VolumeFormat FORMAT = VolumeFormat.labelled("project/test");
    private static final long BYTES = 128L << 20;
    /** Where the header's second copy begins. */
    private static final long COPY = 64L << 10;
    /** In a copy. */
    private static final int TEXT = 4096 + 50;

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    private final Cryptsetup cryptsetup = Cryptsetup.load();
    private final SecretMemory key = secrets.random(64);

    @TempDir
    private Path folder;

    private Path disk;
    private DriveVolume drive;

    DriveVolumeTest() throws IOException {}

    @BeforeEach
    void disk() throws IOException {
        disk = folder.resolve("disk");
        try (RandomAccessFile file = new RandomAccessFile(disk.toFile(), "rw")) {
            file.setLength(BYTES);
        }
        drive = new DriveVolume(secrets, cryptsetup, disk);
    }

    @AfterEach
    void forget() {
        key.close();
    }

    private void make(long epoch) throws IOException {
        try (LuksVolume volume = drive.create(FORMAT, key)) {
            volume.tokens().raiseEpoch(epoch);
        }
    }

    private void write(long at) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(disk.toFile(), "rw")) {
            file.seek(at);
            file.write(1);
        }
    }

    /** In the text of one of the header's two copies. */
    private void damage(long copy) throws IOException {
        for (int i = 0; i < 10; i++) {
            write(copy + TEXT + i);
        }
    }

    private static void refused(
            org.assertj.core.api.ThrowableAssert.ThrowingCallable call, DriveOpenRefused.Reason why) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DriveOpenRefused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(why));
    }

    @Test
    void a_drive_that_was_made_is_found_by_its_key_at_a_later_epoch() throws IOException {
        make(7);
        try (LuksVolume found = drive.openExisting(key, 8)) {
            assertThat(found.label()).isEqualTo("project/test");
            found.tokens().raiseEpoch(8);
        }
        assertThat(drive.epoch()).hasValue(8);
    }

    @Test
    void the_same_epoch_and_an_earlier_one_are_refused_and_nothing_is_changed() throws IOException {
        make(7);
        refused(() -> drive.openExisting(key, 7), DriveOpenRefused.Reason.DRIVE_EPOCH);
        refused(() -> drive.openExisting(key, 6), DriveOpenRefused.Reason.DRIVE_EPOCH);
        assertThat(drive.epoch()).hasValue(7);
    }

    @Test
    void another_key_is_refused() throws IOException {
        make(7);
        try (SecretMemory other = secrets.random(64)) {
            refused(() -> drive.openExisting(other, 8), DriveOpenRefused.Reason.DRIVE_KEY);
        }
        assertThat(drive.epoch()).hasValue(7);
    }

    /** The storage changes the header of a drive that is not open; the next opening comes with the right key. */
    @ParameterizedTest(name = "{0} {2}")
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            /segments/0/encryption      | "aes-xts-plain64" | "cipher_null-ecb"
            /segments/0/encryption      | "aes-xts-plain64" | "aes-ecb"
            /segments/0/sector_size     | 4096              | 512
            /segments/0/offset          | "16777216"        | "33554432"
            /segments/0/size            | "dynamic"         | "1048576"
            /segments/0/iv_tweak        | "0"               | "8"
            /segments/0/flags           | no field          | ["in-reencryption"]
            /keyslots/0/priority        | no field          | 2
            /keyslots/0/area/encryption | "aes-xts-plain64" | "aes-ecb"
            /digests/0/iterations       | 1000              | 100000
            /config/flags               | no field          | ["allow-discards"]
            """)
    void a_header_that_was_forged_is_refused_with_both_values_and_nothing_is_changed(
            String pointer, String expected, String had) throws IOException {
        make(7);
        ForgedHeader.set(disk, pointer, had);
        Path before = Files.copy(disk, folder.resolve("before"));
        assertThatThrownBy(() -> drive.openExisting(key, 8))
                .isInstanceOf(DriveOpenRefused.class)
                .hasMessageContaining(pointer.substring(1).replace('/', '.'))
                .hasMessageContaining(expected)
                .hasMessageContaining("have " + had.replaceAll("[\\[\\]]", ""));
        assertThat(Files.mismatch(disk, before)).isEqualTo(-1);
    }

    @Test
    void a_segment_in_clear_behind_the_first_is_refused() throws IOException {
        make(7);
        ForgedHeader.set(disk, "/segments/0/size", "\"1048576\"");
        ForgedHeader.set(disk, "/segments/1", "{\"type\":\"linear\",\"offset\":\"17825792\",\"size\":\"dynamic\"}");
        assertThatThrownBy(() -> drive.openExisting(key, 8))
                .isInstanceOf(DriveOpenRefused.class)
                .hasMessageContaining("want segments.0.size \"dynamic\", have \"1048576\"");
    }

    @Test
    void an_empty_disk_is_no_drive() {
        refused(() -> drive.openExisting(key, 1), DriveOpenRefused.Reason.NO_DRIVE);
    }

    @Test
    void nothing_is_made_where_something_is() throws IOException {
        write(1 << 20);
        refused(() -> drive.create(FORMAT, key), DriveOpenRefused.Reason.NOT_EMPTY);
        disk();
        write(BYTES - 1);
        refused(() -> drive.create(FORMAT, key), DriveOpenRefused.Reason.NOT_EMPTY);
        disk();
    }

    @Test
    void a_drive_is_not_made_over_a_drive() throws IOException {
        make(7);
        refused(() -> drive.create(FORMAT, key), DriveOpenRefused.Reason.NOT_EMPTY);
        drive.openExisting(key, 8).close();
    }

    @Test
    void a_drive_whose_making_was_cut_short_is_made_anew_and_never_found() throws IOException {
        drive.create(FORMAT, key).close();
        refused(() -> drive.openExisting(key, 8), DriveOpenRefused.Reason.UNFINISHED);
        make(8);
        drive.openExisting(key, 9).close();
    }

    @Test
    void a_drive_whose_two_headers_are_damaged_is_neither_found_nor_made_anew_and_nothing_is_changed()
            throws IOException {
        make(7);
        damage(0);
        damage(COPY);
        Path before = Files.copy(disk, folder.resolve("before"));
        assertThatThrownBy(() -> drive.openExisting(key, 8))
                .isInstanceOf(VolumeException.DamagedHeader.class)
                .hasMessageContaining("want one whole LUKS2 header, have parts of one");
        assertThatThrownBy(() -> drive.epoch()).isInstanceOf(VolumeException.DamagedHeader.class);
        refused(() -> drive.create(FORMAT, key), DriveOpenRefused.Reason.NOT_EMPTY);
        assertThat(Files.mismatch(disk, before)).isEqualTo(-1);
    }

    @Test
    void a_drive_whose_first_header_is_damaged_is_found_by_the_second_which_mends_it() throws IOException {
        make(7);
        damage(0);
        drive.openExisting(key, 8).close();
        damage(COPY);
        drive.openExisting(key, 8).close();
        assertThat(drive.epoch()).hasValue(7);
    }
}
