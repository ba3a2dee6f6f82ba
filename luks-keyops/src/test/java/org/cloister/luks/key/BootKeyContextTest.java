package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.Test;

class BootKeyContextTest {
    private static final byte[] NONCE = new byte[32];
    private static final byte[] OTHER_NONCE =
            new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    private static final byte[] UNLOCK = unlock("p", "o", "v", NONCE, 7);

    private static byte[] unlock(String project, String opening, String vm, byte[] nonce, long epoch) {
        return LengthPrefixedFields.encode(
                LengthPrefixedFields.text("cloister unlock v1"),
                LengthPrefixedFields.text(project),
                LengthPrefixedFields.text(opening),
                LengthPrefixedFields.text(vm),
                nonce,
                LengthPrefixedFields.number(epoch));
    }

    private static byte[] handOver(int slot) {
        return LengthPrefixedFields.encode(
                LengthPrefixedFields.text("cloister hand-over v1"),
                LengthPrefixedFields.text("p"),
                LengthPrefixedFields.text("o"),
                LengthPrefixedFields.number(slot),
                LengthPrefixedFields.text("v"),
                NONCE);
    }

    @Test
    void a_key_sealed_for_one_boot_question_and_use_opens_for_no_other() throws IOException {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
        Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));
        try (SealingKey vm = hpke.generate();
                SealingKey anotherBoot = hpke.generate();
                SecretMemory drive = secrets.random(64)) {
            byte[] sealed = hpke.seal(vm.publicKey(), BootKeyContext.read(UNLOCK), drive);
            try (SecretMemory opened = hpke.open(vm, BootKeyContext.read(UNLOCK), sealed)) {
                assertThat(opened.sameAs(drive)).isTrue();
            }
            assertThatThrownBy(() -> hpke.open(anotherBoot, BootKeyContext.read(UNLOCK), sealed))
                    .isInstanceOf(KeyException.Refused.class);
            for (byte[] other : List.of(
                    unlock("q", "o", "v", NONCE, 7),
                    unlock("p", "q", "v", NONCE, 7),
                    unlock("p", "o", "w", NONCE, 7),
                    unlock("p", "o", "v", OTHER_NONCE, 7),
                    unlock("p", "o", "v", NONCE, 8),
                    handOver(7))) {
                assertThatThrownBy(() -> hpke.open(vm, BootKeyContext.read(other), sealed))
                        .isInstanceOf(KeyException.Refused.class);
            }
        }
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void another_uses_info_is_none_of_these() {
        for (byte[] bad : List.of(
                new byte[0],
                new byte[] {0},
                SealedKeyContext.info(),
                LengthPrefixedFields.encode(LengthPrefixedFields.text("cloister drive envelope 1")),
                LengthPrefixedFields.encode(LengthPrefixedFields.text("cloister unlock v1")),
                Arrays.copyOf(UNLOCK, UNLOCK.length - 1),
                Arrays.copyOf(UNLOCK, UNLOCK.length + 1),
                unlock("", "o", "v", NONCE, 7),
                unlock("p p", "o", "v", NONCE, 7),
                unlock("p", "o", "v".repeat(65), NONCE, 7),
                unlock("p", "o", "v", new byte[31], 7),
                LengthPrefixedFields.encode(
                        LengthPrefixedFields.text("cloister unlock v1"),
                        LengthPrefixedFields.text("p"),
                        LengthPrefixedFields.text("o"),
                        LengthPrefixedFields.text("v"),
                        NONCE,
                        LengthPrefixedFields.number(7)))) {
            assertThatThrownBy(() -> BootKeyContext.read(bad)).isInstanceOf(KeyException.Malformed.class);
        }
    }
}
