package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.Test;

class SealedKeyContextTest {
    private static final String IMAGE = "ab".repeat(48);
    private static final SealedKeyContext CONTEXT =
            new SealedKeyContext("proj", "t-1", 2, "vm.3", IMAGE, "munge", 1_800_000_000L);

    /** Each differs from {@link #CONTEXT} in one field. */
    private static final List<SealedKeyContext> OTHERS = List.of(
            new SealedKeyContext("proj2", "t-1", 2, "vm.3", IMAGE, "munge", 1_800_000_000L),
            new SealedKeyContext("proj", "t-2", 2, "vm.3", IMAGE, "munge", 1_800_000_000L),
            new SealedKeyContext("proj", "t-1", 3, "vm.3", IMAGE, "munge", 1_800_000_000L),
            new SealedKeyContext("proj", "t-1", 2, "vm.4", IMAGE, "munge", 1_800_000_000L),
            new SealedKeyContext("proj", "t-1", 2, "vm.3", "ac".repeat(48), "munge", 1_800_000_000L),
            new SealedKeyContext("proj", "t-1", 2, "vm.3", IMAGE, "drive", 1_800_000_000L),
            new SealedKeyContext("proj", "t-1", 2, "vm.3", IMAGE, "munge", 1_800_000_001L),
            new SealedKeyContext("projt", "-1", 2, "vm.3", IMAGE, "munge", 1_800_000_000L));

    @Test
    void is_encoded_as_each_field_behind_its_length() {
        assertThat(HexFormat.of().formatHex(CONTEXT.encode()))
                .isEqualTo("0004" + "70726f6a" + "0003" + "742d31" + "0004" + "00000002" + "0004" + "766d2e33" + "0060"
                        + "6162".repeat(48) + "0005" + "6d756e6765" + "0008" + "000000006b49d200");
    }

    @Test
    void a_key_sealed_for_one_use_opens_for_no_other() throws IOException {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
        Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));
        try (SealingKey worker = hpke.generate();
                SealingKey controller = hpke.generate();
                SecretMemory munge = secrets.random(1024)) {
            byte[] sealed =
                    hpke.sealAs(controller, worker.publicKey(), SealedKeyContext.info(), CONTEXT.encode(), munge);
            try (SecretMemory opened =
                    hpke.openFrom(controller.publicKey(), worker, SealedKeyContext.info(), CONTEXT.encode(), sealed)) {
                assertThat(opened.sameAs(munge)).isTrue();
            }
            for (SealedKeyContext other : OTHERS) {
                assertThatThrownBy(() -> hpke.openFrom(
                                controller.publicKey(), worker, SealedKeyContext.info(), other.encode(), sealed))
                        .isInstanceOf(KeyException.Refused.class);
            }
        }
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void refuses_fields_out_of_range() {
        for (String bad : List.of("", "a".repeat(65), "a b", "a\n", "ä", "a/b")) {
            assertThatThrownBy(() -> new SealedKeyContext(bad, "t", 0, "v", IMAGE, "p", 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        for (int slot : new int[] {-1, 65536}) {
            assertThatThrownBy(() -> new SealedKeyContext("p", "t", slot, "v", IMAGE, "p", 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new SealedKeyContext("p", "t", 0, "v", "AB".repeat(48), "p", 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new SealedKeyContext("p", "t", 0, "v", IMAGE, "p", -1))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
