package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers made by one side and used by the other: ours, and the command {@code cryptsetup}. */
class CryptsetupInteroperationTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private VolumeFixture bench;

    @BeforeEach
    void start() throws IOException {
        bench = new VolumeFixture(folder);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--cipher aes-xts-plain64 --key-size 256 --sector-size 512",
                "--cipher aes-cbc-essiv:sha256 --key-size 256 --sector-size 4096",
                "--hash sha512 --label other --subsystem theirs",
                "--luks2-metadata-size 64k --luks2-keyslots-size 1m",
                "--pbkdf argon2i --pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1",
            })
    void takes_what_the_command_made(String options) throws IOException {
        Path file = bench.file("theirs");
        List<Object> argv = new ArrayList<>(List.of("cryptsetup", "luksFormat", "-q", "--type", "luks2"));
        argv.addAll(List.of("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"));
        argv.addAll(List.of(options.split(" ", -1)));
        argv.addAll(List.of(file, bench.keyFile('k', 64)));
        VolumeFixture.succeed(argv.toArray());
        VolumeFixture.succeed(
                "cryptsetup",
                "luksAddKey",
                "-q",
                "--pbkdf",
                "argon2id",
                "--pbkdf-force-iterations",
                "4",
                "--pbkdf-memory",
                "32",
                "--key-file",
                bench.keyFile('k', 64),
                file,
                bench.keyFile('p', 9));
        try (SecretMemory key = bench.key('k', 64);
                SecretMemory phrase = bench.key('p', 9);
                SecretMemory added = bench.key('a', 32);
                LuksVolume volume = bench.cryptsetup.open(file)) {
            assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
            assertThat(volume.check(VolumeKey.ofSlot(phrase))).isEqualTo(1);
            assertThat(volume.addSlot(VolumeKey.ofSlot(key), added, KeySlotDerivation.RANDOM_KEY))
                    .isEqualTo(2);
            volume.removeSlot(0);
        }
        VolumeFixture.succeed("cryptsetup", "open", "--test-passphrase", "--key-file", bench.keyFile('a', 32), file);
        assertThat(VolumeFixture.command(
                                "cryptsetup", "open", "--test-passphrase", "--key-file", bench.keyFile('k', 64), file)
                        .exit())
                .isEqualTo(2);
        bench.cryptsetup.erase(file, DeviceErasure.Scope.HEADER);
        assertThat(VolumeFixture.command("cryptsetup", "isLuks", file).exit()).isNotZero();
    }

    @Test
    void takes_a_header_in_a_file_of_its_own() throws IOException {
        Path header = bench.file("header");
        Path data = bench.file("data", 4 << 20);
        VolumeFixture.succeed(
                "cryptsetup",
                "luksFormat",
                "-q",
                "--type",
                "luks2",
                "--pbkdf",
                "pbkdf2",
                "--pbkdf-force-iterations",
                "1000",
                "--header",
                header,
                data,
                bench.keyFile('k', 64));
        try (SecretMemory key = bench.key('k', 64);
                LuksVolume volume = bench.cryptsetup.open(header, data)) {
            assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
        }
        assertThatThrownBy(() -> bench.cryptsetup.open(data)).isInstanceOf(VolumeException.NotLuks.class);
    }

    @Test
    void makes_what_the_command_takes() throws IOException {
        Path file = bench.file("ours");
        Path token = Files.writeString(folder.resolve("token"), "{\"type\":\"theirs\",\"keyslots\":[]}");
        try (SecretMemory volumeKey = bench.key('v', 64);
                SecretMemory key = bench.key('k', 64);
                LuksVolume volume = bench.cryptsetup.create(file, VolumeFormat.labelled("ours"), volumeKey)) {
            volume.addSlot(VolumeKey.ofVolume(volumeKey), key, KeySlotDerivation.RANDOM_KEY);
            volume.tokens().raiseEpoch(5);
        }
        Path slot = bench.keyFile('k', 64);
        Path volumeKey = bench.keyFile('v', 64);
        VolumeFixture.succeed("cryptsetup", "open", "--test-passphrase", "--key-file", slot, file);
        VolumeFixture.succeed("cryptsetup", "open", "--test-passphrase", "--volume-key-file", volumeKey, file);
        assertThat(VolumeFixture.succeed("cryptsetup", "luksDump", file))
                .contains(
                        "Label:         \tours", "Subsystem:     \tcloister", "aes-xts-plain64", "sector: 4096 [bytes]")
                .containsPattern("Iterations: +1000\\s");
        Path dumped = folder.resolve("dumped");
        VolumeFixture.succeed(
                "cryptsetup",
                "luksDump",
                "-q",
                "--dump-volume-key",
                "--volume-key-file",
                dumped,
                "--key-file",
                slot,
                file);
        assertThat(Files.mismatch(dumped, volumeKey)).isEqualTo(-1);
        assertThat(VolumeFixture.succeed("cryptsetup", "token", "export", "--token-id", "0", file))
                .contains("\"epoch\":\"5\"");
        VolumeFixture.succeed("cryptsetup", "token", "import", "--json-file", token, file);
        VolumeFixture.succeed(
                "cryptsetup",
                "luksAddKey",
                "-q",
                "--pbkdf",
                "pbkdf2",
                "--pbkdf-force-iterations",
                "1000",
                "--key-file",
                slot,
                file,
                bench.keyFile('n', 32));
        VolumeFixture.succeed("cryptsetup", "config", "--label", "renamed", file);
        try (SecretMemory added = bench.key('n', 32);
                LuksVolume volume = bench.cryptsetup.open(file)) {
            assertThat(volume.check(VolumeKey.ofSlot(added))).isEqualTo(1);
            assertThat(volume.label()).isEqualTo("renamed");
            assertThat(volume.tokens().all()).hasSize(2);
            assertThat(volume.tokens().epoch()).hasValue(5);
        }
    }

    @Test
    void what_is_erased_opens_with_nothing_but_a_copy_made_before() throws IOException {
        try (SecretMemory key = bench.key('k', 64)) {
            Path file = bench.volume("a", key);
            Path backup = folder.resolve("backup");
            VolumeFixture.succeed("cryptsetup", "luksHeaderBackup", "--header-backup-file", backup, file);
            bench.cryptsetup.erase(file, DeviceErasure.Scope.HEADER);
            bench.cryptsetup.erase(file, DeviceErasure.Scope.HEADER);
            assertThat(VolumeFixture.command(
                                    "cryptsetup",
                                    "open",
                                    "--test-passphrase",
                                    "--key-file",
                                    bench.keyFile('k', 64),
                                    file)
                            .exit())
                    .isNotZero();
            assertThat(VolumeFixture.command("cryptsetup", "repair", "-q", file).exit())
                    .isNotZero();
            VolumeFixture.succeed("cryptsetup", "luksHeaderRestore", "-q", "--header-backup-file", backup, file);
            try (LuksVolume volume = bench.cryptsetup.open(file)) {
                assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
            }
        }
    }
}
