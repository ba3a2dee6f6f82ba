package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.junit.jupiter.api.Test;

class BootContextTest {
    private static final byte[] NONCE = new byte[32];
    private static final byte[] OTHER_NONCE =
            new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    private static final byte[] UNLOCK = unlock("p", "o", "v", NONCE, 7);

    private static byte[] unlock(String project, String opening, String vm, byte[] nonce, long epoch) {
        return Fields.encode(
                Fields.text("cloister unlock v1"),
                Fields.text(project),
                Fields.text(opening),
                Fields.text(vm),
                nonce,
                Fields.number(epoch));
    }

    private static byte[] handOver(int slot) {
        return Fields.encode(
                Fields.text("cloister hand-over v1"),
                Fields.text("p"),
                Fields.text("o"),
                Fields.number(slot),
                Fields.text("v"),
                NONCE);
    }

    @Test
    void a_key_sealed_for_one_boot_question_and_use_opens_for_no_other() throws IOException {
        Secrets secrets = Secrets.open(Secrets.Locking.REQUIRED);
        Hpke hpke = new Hpke(Crypto.load(secrets));
        try (SealingKey vm = hpke.generate();
                SealingKey anotherBoot = hpke.generate();
                SecretMemory drive = secrets.random(64)) {
            byte[] sealed = hpke.seal(vm.publicKey(), BootContext.read(UNLOCK), drive);
            try (SecretMemory opened = hpke.open(vm, BootContext.read(UNLOCK), sealed)) {
                assertThat(opened.sameAs(drive)).isTrue();
            }
            assertThatThrownBy(() -> hpke.open(anotherBoot, BootContext.read(UNLOCK), sealed))
                    .isInstanceOf(KeyException.Refused.class);
            for (byte[] other : List.of(
                    unlock("q", "o", "v", NONCE, 7),
                    unlock("p", "q", "v", NONCE, 7),
                    unlock("p", "o", "w", NONCE, 7),
                    unlock("p", "o", "v", OTHER_NONCE, 7),
                    unlock("p", "o", "v", NONCE, 8),
                    handOver(7))) {
                assertThatThrownBy(() -> hpke.open(vm, BootContext.read(other), sealed))
                        .isInstanceOf(KeyException.Refused.class);
            }
        }
        assertThat(secrets.live()).isZero();
    }

    @Test
    void another_uses_info_is_none_of_these() {
        for (byte[] bad : List.of(
                new byte[0],
                new byte[] {0},
                SealedKeyContext.info(),
                Fields.encode(Fields.text("cloister drive envelope 1")),
                Fields.encode(Fields.text("cloister unlock v1")),
                Arrays.copyOf(UNLOCK, UNLOCK.length - 1),
                Arrays.copyOf(UNLOCK, UNLOCK.length + 1),
                unlock("", "o", "v", NONCE, 7),
                unlock("p p", "o", "v", NONCE, 7),
                unlock("p", "o", "v".repeat(65), NONCE, 7),
                unlock("p", "o", "v", new byte[31], 7),
                Fields.encode(
                        Fields.text("cloister unlock v1"),
                        Fields.text("p"),
                        Fields.text("o"),
                        Fields.text("v"),
                        NONCE,
                        Fields.number(7)))) {
            assertThatThrownBy(() -> BootContext.read(bad)).isInstanceOf(KeyException.Malformed.class);
        }
    }
}
