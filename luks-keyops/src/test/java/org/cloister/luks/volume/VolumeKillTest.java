package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kill -9 at any moment of making, erasing and changing leaves what can be opened or erased. */
class VolumeKillTest {
    private static final int ROUNDS = 8;
    private static final int LONGEST_RUN_MS = 700;
    private static final int NONE = -1;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private VolumeFixture bench;

    private final Random random = new Random(seed());

    @BeforeEach
    void start() throws IOException {
        bench = new VolumeFixture(folder);
    }

    @Test
    void making_and_erasing() throws Exception {
        Path file = bench.file("a");
        try (SecretMemory key = bench.key('k', 64)) {
            for (int i = 0; i < ROUNDS; i++) {
                killed("remake", file);
                try (LuksVolume volume = bench.cryptsetup.open(file)) {
                    if (!volume.slots().isEmpty()) {
                        // Killed while erasing: a slot is overwritten before it is taken out of the header.
                        assertThat(opens(volume, key)).isIn(0, NONE);
                    }
                } catch (VolumeException.NotLuks | VolumeException.DamagedHeader e) {
                    // erase finishes it
                }
                bench.cryptsetup.erase(file, DeviceErasure.Scope.HEADER);
                assertThatThrownBy(() -> bench.cryptsetup.open(file)).isInstanceOf(VolumeException.NotLuks.class);
            }
            try (SecretMemory volumeKey = bench.secrets.random(64)) {
                bench.cryptsetup
                        .create(file, VolumeFormat.labelled("after"), volumeKey)
                        .close();
            }
        }
    }

    @Test
    void changing_slots_and_tokens() throws Exception {
        try (SecretMemory key = bench.key('k', 64);
                SecretMemory other = bench.key('o', 64)) {
            Path file = bench.volume("a", key);
            for (int i = 0; i < ROUNDS; i++) {
                long killed = killed("change", file);
                try (LuksVolume volume = bench.cryptsetup.open(file)) {
                    assertThat(volume.check(VolumeKey.ofSlot(key))).isZero();
                    assertThat(volume.tokens().epoch().orElse(0)).isBetween(killed, killed + 1);
                    for (int slot : volume.slots()) {
                        if (slot != 0) {
                            assertThat(opens(volume, other)).isIn(slot, NONE);
                            volume.removeSlot(slot);
                        }
                    }
                }
            }
        }
    }

    /** @return the slot that a key opens; NONE for one that was overwritten, but not yet taken out of the header */
    private static int opens(LuksVolume volume, SecretMemory key) throws VolumeException {
        try {
            return volume.check(VolumeKey.ofSlot(key));
        } catch (VolumeException.WrongKey e) {
            return NONE;
        }
    }

    /** @return the last epoch that the process said it had written; what stood there before if it said none */
    private long killed(String what, Path file) throws Exception {
        long epoch = 0;
        if (what.equals("change")) {
            try (LuksVolume volume = bench.cryptsetup.open(file)) {
                epoch = volume.tokens().epoch().orElse(0);
            }
        }
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        VolumeKillTarget.class.getName(),
                        what,
                        file.toString(),
                        bench.keyFile('k', 64).toString(),
                        bench.keyFile('o', 64).toString()))
                // Newer JVMs warn there of native libraries.
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader lines = process.inputReader()) {
            assertThat(lines.readLine()).isEqualTo("ready");
            TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_RUN_MS));
            assertThat(process.isAlive()).isTrue();
            // Process::destroyForcibly would also close what we read from it.
            process.toHandle().destroyForcibly();
            process.waitFor();
            for (String line : lines.lines().toList()) {
                assertThat(line).startsWith("epoch ");
                epoch = Long.parseLong(line.substring("epoch ".length()));
            }
        } finally {
            process.destroyForcibly();
        }
        return epoch;
    }

    private static long seed() {
        String property = System.getProperty("cloister.seed", "");
        long seed = property.isEmpty() ? ThreadLocalRandom.current().nextLong() : Long.parseLong(property);
        System.out.println("moments of the kills: CLOISTER_SEED=" + seed);
        return seed;
    }
}
