package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operations on a volume without device-mapper: all but mapping it, on files, with the real library. */
class LuksVolumeTest {
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
    void is_made_with_what_was_asked_for() throws IOException {
        Path file = bench.file("a");
        try (SecretMemory key = bench.secrets.random(64);
                LuksVolume volume = bench.cryptsetup.create(file, VolumeFormat.labelled("worker/ticket-9.0"), key)) {
            assertThat(volume.label()).isEqualTo("worker/ticket-9.0");
            assertThat(volume.subsystem()).isEqualTo("cloister");
            assertThat(volume.cipher()).isEqualTo("aes-xts-plain64");
            assertThat(volume.sectorSize()).isEqualTo(4096);
            assertThat(volume.slots()).isEmpty();
            assertThat(volume.check(VolumeKey.ofVolume(key))).isZero();
            try (LuksVolume again = bench.cryptsetup.open(file)) {
                assertThat(again.uuid()).isEqualTo(volume.uuid()).isNotEmpty();
                assertThat(again.check(VolumeKey.ofVolume(key))).isZero();
            }
        }
    }

    @Test
    void opens_with_each_slot_until_the_slot_is_removed() throws IOException {
        Path file = bench.file("a");
        try (SecretMemory volumeKey = bench.secrets.random(64);
                SecretMemory one = bench.secrets.random(32);
                SecretMemory two = bench.secrets.random(64);
                SecretMemory phrase = bench.key('p', 20);
                LuksVolume volume = bench.cryptsetup.create(file, VolumeFormat.labelled("a"), volumeKey)) {
            assertThat(volume.addSlot(VolumeKey.ofVolume(volumeKey), one, KeySlotDerivation.RANDOM_KEY))
                    .isZero();
            assertThat(volume.addSlot(VolumeKey.ofSlot(one), two, KeySlotDerivation.RANDOM_KEY))
                    .isEqualTo(1);
            assertThat(volume.addSlot(VolumeKey.ofSlot(two), phrase, KeySlotDerivation.PASSPHRASE))
                    .isEqualTo(2);
            assertThat(volume.slots()).containsExactly(0, 1, 2);
            assertThat(volume.check(VolumeKey.ofSlot(one))).isZero();
            assertThat(volume.check(VolumeKey.ofSlot(two))).isEqualTo(1);
            assertThat(volume.check(VolumeKey.ofSlot(phrase))).isEqualTo(2);
            volume.removeSlot(0);
            assertThat(volume.slots()).containsExactly(1, 2);
            assertThatThrownBy(() -> volume.check(VolumeKey.ofSlot(one))).isInstanceOf(VolumeException.WrongKey.class);
            assertThat(volume.check(VolumeKey.ofSlot(two))).isEqualTo(1);
            String dump = VolumeFixture.succeed("cryptsetup", "luksDump", file);
            assertThat(dump).containsPattern("1: luks2[^:]*Key: +512 bits").contains("argon2id");
        }
    }

    @Test
    void keeps_label_tokens_and_epoch_in_its_header() throws IOException {
        try (SecretMemory key = bench.secrets.random(32)) {
            Path file = bench.volume("a", key);
            String envelope = "{\"type\":\"cloister-test\",\"keyslots\":[\"0\"],\"data\":\"x\"}";
            try (LuksVolume volume = bench.cryptsetup.open(file)) {
                assertThat(volume.tokens().epoch()).isEmpty();
                volume.setLabel("drive/p1");
                int number = volume.tokens().add(envelope);
                volume.tokens().raiseEpoch(1);
                volume.tokens().raiseEpoch(41);
                assertThat(volume.tokens().all()).hasSize(2);
                volume.tokens().replace(number, envelope.replace("\"x\"", "\"y\""));
            }
            try (LuksVolume volume = bench.cryptsetup.open(file)) {
                assertThat(volume.label()).isEqualTo("drive/p1");
                assertThat(volume.tokens().epoch()).hasValue(41);
                assertThatThrownBy(() -> volume.tokens().raiseEpoch(41))
                        .isInstanceOf(VolumeException.BadMetadata.class)
                        .hasMessageContaining("want an epoch above 41, have 41");
                LuksToken first = volume.tokens().all().get(0);
                assertThat(first.json()).contains("cloister-test", "\"y\"");
                volume.tokens().remove(first.number());
                assertThat(volume.tokens().all()).hasSize(1);
                assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
            }
        }
    }

    @Test
    void has_room_for_the_longest_token_and_all_slots() throws IOException {
        try (SecretMemory volumeKey = bench.secrets.random(64);
                SecretMemory key = bench.secrets.random(64);
                LuksVolume volume = bench.cryptsetup.create(bench.file("a"), VolumeFormat.labelled("a"), volumeKey)) {
            String token = "{\"type\":\"cloister-test\",\"keyslots\":[],\"x\":\"%s\"}";
            volume.tokens().add(token.formatted("x".repeat(LuksTokens.MAX_LENGTH - token.length() + 2)));
            for (int slot = 0; slot < 32; slot++) {
                assertThat(volume.addSlot(VolumeKey.ofVolume(volumeKey), key, KeySlotDerivation.RANDOM_KEY))
                        .isEqualTo(slot);
            }
            volume.tokens().raiseEpoch(1);
        }
    }

    @Test
    void refuses_tokens_that_are_none_or_too_long() throws IOException {
        try (SecretMemory key = bench.secrets.random(32);
                LuksVolume volume = bench.cryptsetup.open(bench.volume("a", key))) {
            assertThatThrownBy(() -> volume.tokens().add("x".repeat(LuksTokens.MAX_LENGTH + 1)))
                    .isInstanceOf(VolumeException.BadMetadata.class);
            assertThatThrownBy(() -> volume.tokens().add("{"))
                    .isInstanceOf(VolumeException.CallFailed.class)
                    .hasMessageContaining("crypt_token_json_set")
                    .hasMessageContaining("EINVAL");
            volume.tokens().add("{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"0\"}");
            assertThatThrownBy(() -> volume.tokens().epoch())
                    .isInstanceOf(VolumeException.BadMetadata.class)
                    .hasMessageContaining("have something else");
            volume.tokens().add(EpochToken.json(3));
            assertThatThrownBy(() -> volume.tokens().epoch())
                    .isInstanceOf(VolumeException.BadMetadata.class)
                    .hasMessageContaining("tokens 0 and 1");
        }
    }

    @Test
    void answers_nothing_once_it_is_closed() throws IOException {
        try (SecretMemory key = bench.secrets.random(32)) {
            LuksVolume volume = bench.cryptsetup.open(bench.volume("a", key));
            volume.close();
            volume.close();
            assertThatThrownBy(volume::slots).isInstanceOf(IllegalStateException.class);
        }
    }
}
