package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers that the real library takes, and that are not what it was asked to make: none is mapped. */
@Tag("boundary")
class LuksHeaderFormTest {
    private static final MappingName NAME = new MappingName("cloister-header-form-test");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private VolumeFixture bench;

    @BeforeEach
    void start() throws IOException {
        bench = new VolumeFixture(folder);
    }

    private Path volume() throws IOException {
        try (SecretMemory key = bench.key('k', 64)) {
            return bench.volume("a", key);
        }
    }

    /** Before any of its keys is derived. */
    private void refused(Path file, String expected, String actual) throws IOException {
        try (SecretMemory key = bench.key('k', 64);
                LuksVolume volume = bench.cryptsetup.open(file)) {
            assertThatThrownBy(volume::requireForm)
                    .isInstanceOf(VolumeException.UnexpectedHeader.class)
                    .hasMessageContaining("want " + expected + ", have " + actual + ";");
            assertThatThrownBy(() -> volume.map(NAME, VolumeKey.ofSlot(key), Set.of()))
                    .isInstanceOf(VolumeException.UnexpectedHeader.class);
        }
    }

    @Test
    void what_is_made_is_of_the_form_with_whatever_slots_and_tokens_it_has() throws IOException {
        Path file = bench.file("a");
        try (SecretMemory volumeKey = bench.secrets.random(64);
                SecretMemory slot = bench.secrets.random(32);
                SecretMemory phrase = bench.key('p', 20);
                LuksVolume made = bench.cryptsetup.create(file, VolumeFormat.labelled("a"), volumeKey)) {
            made.requireForm();
            made.addSlot(VolumeKey.ofVolume(volumeKey), slot, KeySlotDerivation.RANDOM_KEY);
            made.addSlot(VolumeKey.ofVolume(volumeKey), slot, KeySlotDerivation.RANDOM_KEY);
            made.addSlot(VolumeKey.ofVolume(volumeKey), phrase, KeySlotDerivation.PASSPHRASE);
            made.removeSlot(1);
            made.tokens().raiseEpoch(1);
            made.tokens().add("{\"type\":\"theirs\",\"keyslots\":[\"0\",\"2\"],\"Of any NAME\":{\"a\":[{\"b\":{}}]}}");
            made.requireForm();
            for (int i = 0; i < 30; i++) {
                made.addSlot(VolumeKey.ofVolume(volumeKey), slot, KeySlotDerivation.RANDOM_KEY);
            }
            made.requireForm();
        }
        try (LuksVolume found = bench.cryptsetup.open(file)) {
            assertThat(found.slots()).hasSize(32);
            assertThatCode(found::requireForm).doesNotThrowAnyException();
        }
    }

    @ParameterizedTest(name = "{0} {2}")
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            /segments/0/encryption       | "aes-xts-plain64" | "cipher_null-ecb"
            /segments/0/encryption       | "aes-xts-plain64" | "aes-ecb"
            /segments/0/encryption       | "aes-xts-plain64" | "aes-cbc-essiv:sha256"
            /segments/0/encryption       | "aes-xts-plain64" | "aes-xts-null"
            /segments/0/sector_size      | 4096              | 512
            /segments/0/offset           | "16777216"        | "20971520"
            /segments/0/size             | "dynamic"         | "1048576"
            /segments/0/iv_tweak         | "0"               | "8"
            /keyslots/0/af/hash          | "sha256"          | "sha1"
            /keyslots/0/area/encryption  | "aes-xts-plain64" | "aes-ecb"
            /keyslots/0/area/encryption  | "aes-xts-plain64" | "cipher_null-ecb"
            /keyslots/0/area/key_size    | 64                | 32
            /keyslots/0/kdf/iterations   | 1000              | 4000000000
            /keyslots/0/kdf/hash         | "sha256"          | "sha1"
            /digests/0/iterations        | 1000              | 4000000000
            /digests/0/hash              | "sha256"          | "sha1"
            """)
    void a_field_that_was_changed_is_refused(String pointer, String expected, String actual) throws IOException {
        Path file = volume();
        ForgedHeader.set(file, pointer, actual);
        refused(file, pointer.substring(1).replace('/', '.') + " " + expected, actual);
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            /segments/0/flags     | ["in-reencryption"]                   | segments.0.flags[0]               | "in-reencryption"
            /keyslots/0/priority  | 2                                     | keyslots.0.priority               | 2
            /config/flags         | ["allow-discards"]                    | config.flags[0]                   | "allow-discards"
            /config/flags         | ["no-journal","no-read-workqueue"]    | config.flags[0]                   | "no-journal"
            /config/requirements  | {"mandatory":["of-another-time"]}     | config.requirements.mandatory[0]  | "of-another-time"
            """)
    void a_field_that_was_added_is_refused(String pointer, String value, String path, String actual)
            throws IOException {
        Path file = volume();
        ForgedHeader.set(file, pointer, value);
        refused(file, "no field " + path, actual);
    }

    @Test
    void a_volume_with_integrity_that_was_not_asked_for_is_refused_and_the_other_way() throws IOException {
        Path file = volume();
        try (LuksVolume volume = bench.cryptsetup.open(file, VolumeIntegrity.HMAC_SHA256)) {
            assertThatThrownBy(volume::requireForm)
                    .isInstanceOf(VolumeException.UnexpectedHeader.class)
                    .hasMessageContaining("want segments.0.integrity.type \"hmac(sha256)\", have nothing");
        }
        ForgedHeader.set(
                file,
                "/segments/0/integrity",
                "{\"type\":\"hmac(sha256)\",\"journal_encryption\":\"none\",\"journal_integrity\":\"none\"}");
        refused(file, "no field segments.0.integrity.journal_encryption", "\"none\"");
    }

    @Test
    void a_segment_in_clear_is_refused_alone_and_beside_ours() throws IOException {
        Path file = volume();
        ForgedHeader.set(file, "/segments/0/size", "\"1048576\"");
        ForgedHeader.set(file, "/segments/1", "{\"type\":\"linear\",\"offset\":\"17825792\",\"size\":\"dynamic\"}");
        refused(file, "segments.0.size \"dynamic\"", "\"1048576\"");
        ForgedHeader.set(
                file, "/segments", "{\"0\":{\"type\":\"linear\",\"offset\":\"16777216\",\"size\":\"dynamic\"}}");
        ForgedHeader.set(file, "/digests/0/segments", "[]");
        refused(file, "segments.0.type \"crypt\"", "\"linear\"");
    }

    /** That the one digest is of the segment and of each slot libcryptsetup itself demands. */
    @Test
    void a_second_digest_is_refused() throws IOException {
        Path file = volume();
        ForgedHeader.set(
                file,
                "/digests/1",
                "{\"type\":\"pbkdf2\",\"keyslots\":[],\"segments\":[],\"hash\":\"sha256\",\"iterations\":1000,"
                        + "\"salt\":\"AAAA\",\"digest\":\"AAAA\"}");
        refused(file, "no field digests.1.digest", "\"AAAA\"");
    }

    @Test
    void a_kdf_that_would_take_all_memory_or_time_is_refused() throws IOException {
        Path file = bench.file("a");
        try (SecretMemory volumeKey = bench.secrets.random(64);
                SecretMemory phrase = bench.key('p', 20);
                LuksVolume made = bench.cryptsetup.create(file, VolumeFormat.labelled("a"), volumeKey)) {
            made.addSlot(VolumeKey.ofVolume(volumeKey), phrase, KeySlotDerivation.PASSPHRASE);
        }
        ForgedHeader.set(file, "/keyslots/0/kdf/memory", "4194304");
        refused(file, "keyslots.0.kdf.memory 262144", "4194304");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-d0 0 254:0 0 0", "", "00000000-0000-0000-0000-00000000000G"})
    void a_uuid_that_is_none_is_refused_since_the_kernels_table_has_it(String uuid) throws IOException {
        Path file = volume();
        ForgedHeader.uuid(file, uuid);
        refused(file, "a UUID", uuid);
    }

    @Test
    void a_header_of_another_size_is_refused() throws IOException {
        Path file = bench.file("theirs");
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
                "--sector-size",
                "4096",
                "--key-size",
                "512",
                file,
                bench.keyFile('k', 64));
        try (LuksVolume volume = bench.cryptsetup.open(file)) {
            assertThatThrownBy(volume::requireForm)
                    .isInstanceOf(VolumeException.UnexpectedHeader.class)
                    .hasMessageContaining("Layout[metadata=65536, keyslots=16646144], have Layout[metadata=16384,");
        }
    }

    @Test
    void what_the_command_makes_in_this_form_is_taken() throws IOException {
        Path file = bench.file("theirs");
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
                "--sector-size",
                "4096",
                "--key-size",
                "512",
                "--luks2-metadata-size",
                "64k",
                "--luks2-keyslots-size",
                "16256k",
                file,
                bench.keyFile('k', 64));
        try (LuksVolume volume = bench.cryptsetup.open(file)) {
            volume.requireForm();
        }
    }

    /** The library takes the second copy when the first is damaged, and so does the check, which asks the library. */
    @Test
    void the_copy_that_the_library_takes_is_the_one_that_is_looked_at() throws IOException {
        Path file = volume();
        ForgedHeader.set(file, "/segments/0/encryption", "\"cipher_null-ecb\"");
        VolumeFixture.overwrite(file, 5000, 100, 'x');
        refused(file, "segments.0.encryption \"aes-xts-plain64\"", "\"cipher_null-ecb\"");
    }

    /** What is loaded is what is compared and mapped: the storage changes the header when we have it. */
    @Test
    void a_header_that_is_changed_after_it_was_loaded_is_not_looked_at_again() throws IOException {
        Path file = volume();
        try (SecretMemory key = bench.key('k', 64);
                LuksVolume volume = bench.cryptsetup.open(file)) {
            ForgedHeader.set(file, "/segments/0/encryption", "\"cipher_null-ecb\"");
            volume.requireForm();
            assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
            volume.requireForm();
            assertThat(volume.cipher()).isEqualTo("aes-xts-plain64");
        }
    }
}
