package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each thing that can be wrong with a device, a key or the machine has an error of its own name. */
class VolumeErrorTest {
    /** Of one copy of the header, in bytes. */
    private static final int COPY = 64 << 10;

    private static final MappingName NAME = new MappingName("cloister-bad-input-test");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private VolumeFixture bench;

    @BeforeEach
    void start() throws IOException {
        bench = new VolumeFixture(folder);
    }

    @AfterEach
    void no_secret_is_left() {
        assertThat(bench.secrets.liveCount()).isZero();
    }

    @Test
    void not_a_luks_device() throws IOException {
        Path file = bench.file("a");
        refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
        Files.write(file, new byte[0]);
        refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
        Files.write(file, new byte[] {'L', 'U', 'K', 'S', (byte) 0xba, (byte) 0xbe});
        refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
    }

    @Test
    void no_device() {
        refused(VolumeException.NoDevice.class, () -> bench.cryptsetup.open(folder.resolve("none")));
        refused(VolumeException.NoDevice.class, () -> bench.cryptsetup.open(folder));
        refused(
                VolumeException.NoDevice.class,
                () -> bench.cryptsetup.erase(folder.resolve("none"), DeviceErasure.Scope.HEADER));
    }

    @Test
    void luks1() throws IOException {
        Path file = bench.file("a");
        VolumeFixture.succeed(
                "cryptsetup",
                "luksFormat",
                "-q",
                "--type",
                "luks1",
                "--pbkdf-force-iterations",
                "1000",
                file,
                bench.keyFile('k', 32));
        refused(VolumeException.Luks1.class, () -> bench.cryptsetup.open(file));
        refused(VolumeException.Luks1.class, () -> bench.cryptsetup.erase(file, DeviceErasure.Scope.HEADER));
        try (SecretMemory key = bench.secrets.random(64)) {
            refused(
                    VolumeException.AlreadyLuks.class,
                    () -> bench.cryptsetup.create(file, VolumeFormat.labelled("a"), key));
        }
    }

    @Test
    void a_damaged_copy_of_the_header_is_repaired_from_the_other() throws IOException {
        try (SecretMemory key = bench.secrets.random(32)) {
            Path file = bench.volume("a", key);
            for (long copy : new long[] {0, COPY}) {
                for (int at : new int[] {0, 100, 4096 + 50}) {
                    VolumeFixture.overwrite(file, copy + at, 40, 0xa5);
                    try (LuksVolume volume = bench.cryptsetup.open(file)) {
                        assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
                    }
                }
            }
            // Repaired for good: now the other one alone is enough.
            VolumeFixture.overwrite(file, 0, COPY, 0);
            bench.cryptsetup.open(file).close();
            VolumeFixture.overwrite(file, COPY, COPY, 0);
            bench.cryptsetup.open(file).close();
        }
    }

    @Test
    void both_copies_of_the_header_damaged() throws IOException {
        try (SecretMemory key = bench.secrets.random(32)) {
            Path file = bench.volume("a", key);
            VolumeFixture.overwrite(file, 4096 + 50, 10, 0);
            VolumeFixture.overwrite(file, COPY + 4096 + 50, 10, 0);
            refused(VolumeException.DamagedHeader.class, () -> bench.cryptsetup.open(file));
            VolumeFixture.overwrite(file, 0, 4096, 0);
            refused(VolumeException.DamagedHeader.class, () -> bench.cryptsetup.open(file));
            bench.cryptsetup.erase(file, DeviceErasure.Scope.HEADER);
            refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {8, 100, 4095, 4096, 5000, 16 << 10, (64 << 10) + 3, 80 << 10, 128 << 10, 300 << 10, (16 << 20) - 1})
    void truncated_file(int length) throws IOException {
        try (SecretMemory key = bench.secrets.random(32)) {
            Path file = bench.volume("a", key);
            try (RandomAccessFile shorter = new RandomAccessFile(file.toFile(), "rw")) {
                shorter.setLength(length);
            }
            refused(VolumeException.Truncated.class, () -> bench.cryptsetup.open(file));
            bench.cryptsetup.erase(file, DeviceErasure.Scope.HEADER);
            refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
            assertThat(Files.size(file)).isEqualTo(length);
        }
    }

    @Test
    void key_of_the_wrong_length() throws IOException {
        Path file = bench.file("a");
        try (SecretMemory shorter = bench.secrets.random(63);
                SecretMemory slot = bench.secrets.random(31);
                SecretMemory longer = bench.secrets.random(65);
                SecretMemory key = bench.secrets.random(64)) {
            for (SecretMemory wrong : new SecretMemory[] {shorter, longer}) {
                refused(
                        VolumeException.WrongKeyLength.class,
                        () -> bench.cryptsetup.create(file, VolumeFormat.labelled("a"), wrong));
            }
            refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
            try (LuksVolume volume = bench.cryptsetup.create(file, VolumeFormat.labelled("a"), key)) {
                for (SecretMemory wrong : new SecretMemory[] {shorter, longer}) {
                    refused(VolumeException.WrongKeyLength.class, () -> volume.check(VolumeKey.ofVolume(wrong)));
                    refused(
                            VolumeException.WrongKeyLength.class,
                            () -> volume.map(NAME, VolumeKey.ofVolume(wrong), Set.of()));
                    refused(
                            VolumeException.WrongKeyLength.class,
                            () -> volume.addSlot(VolumeKey.ofVolume(wrong), key, KeySlotDerivation.RANDOM_KEY));
                }
                for (SecretMemory wrong : new SecretMemory[] {slot, longer}) {
                    refused(
                            VolumeException.WrongKeyLength.class,
                            () -> volume.addSlot(VolumeKey.ofVolume(key), wrong, KeySlotDerivation.RANDOM_KEY));
                }
                assertThat(volume.slots()).isEmpty();
            }
        }
    }

    @Test
    void wrong_key() throws IOException {
        try (SecretMemory key = bench.secrets.random(64);
                SecretMemory other = bench.secrets.random(64)) {
            try (LuksVolume volume = bench.cryptsetup.open(bench.volume("a", key))) {
                refused(VolumeException.WrongKey.class, () -> volume.check(VolumeKey.ofSlot(other)));
                refused(VolumeException.WrongKey.class, () -> volume.check(VolumeKey.ofVolume(other)));
                refused(
                        VolumeException.WrongKey.class,
                        () -> volume.addSlot(VolumeKey.ofSlot(other), other, KeySlotDerivation.RANDOM_KEY));
                refused(
                        VolumeException.WrongKey.class,
                        () -> volume.addSlot(VolumeKey.ofVolume(other), other, KeySlotDerivation.RANDOM_KEY));
                volume.removeSlot(0);
                refused(VolumeException.WrongKey.class, () -> volume.check(VolumeKey.ofSlot(key)));
            }
        }
    }

    @Test
    void another_header_is_not_written_over() throws IOException {
        try (SecretMemory key = bench.secrets.random(64)) {
            Path file = bench.volume("a", key);
            refused(
                    VolumeException.AlreadyLuks.class,
                    () -> bench.cryptsetup.create(file, VolumeFormat.labelled("a"), key));
            VolumeFixture.overwrite(file, 0, 4096, 0); // the other copy counts as well
            refused(
                    VolumeException.AlreadyLuks.class,
                    () -> bench.cryptsetup.create(file, VolumeFormat.labelled("a"), key));
            try (LuksVolume volume = bench.cryptsetup.open(file)) {
                assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
            }
        }
    }

    @Test
    void too_small() throws IOException {
        Path file = bench.file("a", 16 << 20);
        try (SecretMemory key = bench.secrets.random(64)) {
            refused(
                    VolumeException.TooSmall.class,
                    () -> bench.cryptsetup.create(file, VolumeFormat.labelled("a"), key));
        }
        assertThat(Files.size(file)).isEqualTo(16 << 20);
    }

    @Test
    void disk_full_during_format() throws IOException {
        Path small = Files.createDirectory(folder.resolve("small"));
        Assumptions.assumeTrue(
                VolumeFixture.command("mount", "-t", "tmpfs", "-o", "size=6m", "cloister-test", small)
                                .exit()
                        == 0,
                "mounting needs root");
        try (SecretMemory key = bench.secrets.random(64)) {
            Path file = bench.file("small/a");
            refused(
                    VolumeException.DiskFull.class,
                    () -> bench.cryptsetup.create(file, VolumeFormat.labelled("a"), key));
            refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
            assertThat(Files.size(file)).isEqualTo(VolumeFixture.FILE_LENGTH);
        } finally {
            VolumeFixture.succeed("umount", small);
        }
    }

    @Test
    void device_busy() throws IOException {
        Path file = bench.file("a");
        VolumeFixture.Output loop = VolumeFixture.command("losetup", "-f", "--show", file);
        Assumptions.assumeTrue(loop.exit() == 0, "a loop device needs root");
        Path device = Path.of(loop.text().strip());
        Path mount = Files.createDirectory(folder.resolve("mount"));
        try (SecretMemory key = bench.secrets.random(64)) {
            VolumeFixture.succeed("mkfs.ext4", "-q", device);
            VolumeFixture.succeed("mount", device, mount);
            try {
                refused(
                        VolumeException.DeviceBusy.class,
                        () -> bench.cryptsetup.create(device, VolumeFormat.labelled("a"), key));
                refused(
                        VolumeException.DeviceBusy.class,
                        () -> bench.cryptsetup.erase(device, DeviceErasure.Scope.HEADER));
            } finally {
                VolumeFixture.succeed("umount", mount);
            }
            VolumeFixture.succeed("fsck.ext4", "-fn", device);
            bench.cryptsetup.create(device, VolumeFormat.labelled("a"), key).close();
            bench.cryptsetup.erase(device, DeviceErasure.Scope.WHOLE);
            refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(device));
        } finally {
            VolumeFixture.succeed("losetup", "-d", device);
        }
    }

    @Test
    void device_mapper_missing() throws IOException {
        Assumptions.assumeFalse(
                Files.readString(Path.of("/proc/misc")).contains("device-mapper"), "there is a device-mapper");
        try (SecretMemory key = bench.secrets.random(64);
                LuksVolume volume = bench.cryptsetup.open(bench.volume("a", key))) {
            VolumeException e = refused(
                    VolumeException.DeviceMapperMissing.class, () -> volume.map(NAME, VolumeKey.ofSlot(key), Set.of()));
            assertThat(e.libraryMessage()).contains("device-mapper");
            assertThat(e.errnoName()).isEqualTo("EOPNOTSUPP");
            assertThat(bench.cryptsetup.status(NAME)).isEmpty();
            assertThat(bench.cryptsetup.close(NAME)).isFalse();
        }
    }

    @Test
    void a_mapping_that_device_mapper_does_not_answer_for_is_not_called_absent() throws IOException {
        for (int status : new int[] {0, 4}) {
            VolumeException e =
                    refused(VolumeException.MappingUnknown.class, () -> Cryptsetup.state(NAME, status, true));
            assertThat(e).hasMessageContaining("have status " + status + "; run as root");
            assertThat(Cryptsetup.state(NAME, status, false)).isEqualTo(LibCryptsetup.CRYPT_INACTIVE);
        }
        for (int status = LibCryptsetup.CRYPT_INACTIVE; status <= LibCryptsetup.CRYPT_BUSY; status++) {
            assertThat(Cryptsetup.state(NAME, status, true)).isEqualTo(status);
        }
    }

    @Test
    void dm_integrity_without_device_mapper_leaves_no_header() throws IOException {
        Assumptions.assumeFalse(
                Files.readString(Path.of("/proc/misc")).contains("device-mapper"), "there is a device-mapper");
        Path file = bench.file("a");
        VolumeFormat format = VolumeFormat.labelled("a").withIntegrity(VolumeIntegrity.HMAC_SHA256);
        try (SecretMemory key = bench.secrets.random(96)) {
            assertThatThrownBy(() -> bench.cryptsetup.create(file, format, key)).isInstanceOf(VolumeException.class);
        }
        refused(VolumeException.NotLuks.class, () -> bench.cryptsetup.open(file));
    }

    @Test
    void library_missing_or_too_old() {
        refused(VolumeException.LibraryMissing.class, () -> CryptsetupLibrary.load("libcryptsetup.so.none"));
        VolumeException e = refused(VolumeException.LibraryTooOld.class, () -> CryptsetupLibrary.load("libm.so.6"));
        assertThat(e).hasMessageContaining("one without crypt_");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "../a", "-a", "a/b", ".", "a\n"})
    void names_that_are_none(String name) {
        assertThatThrownBy(() -> new MappingName(name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> VolumeFormat.labelled(name.replace("../a", "")
                        .replace("a/b", "")
                        .replace("-a", "")
                        .replace(".", "")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatCode(() -> VolumeFormat.labelled("x".repeat(47))).doesNotThrowAnyException();
        assertThatThrownBy(() -> VolumeFormat.labelled("x".repeat(48))).isInstanceOf(IllegalArgumentException.class);
    }

    /** The error's text has subject and call, and nothing that looks like a key. */
    private static VolumeException refused(Class<? extends VolumeException> type, ThrowingCallable call) {
        VolumeException[] thrown = new VolumeException[1];
        assertThatThrownBy(call).isInstanceOfSatisfying(type, e -> thrown[0] = e);
        assertThat(thrown[0]).hasMessageStartingWith(thrown[0].subject() + ": " + thrown[0].call() + ": want ");
        assertThat(thrown[0].getMessage()).doesNotContainPattern("[0-9a-f]{32}");
        return thrown[0];
    }
}
