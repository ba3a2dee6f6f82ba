package org.cloister.luks.leak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.cloister.luks.key.Argon2;
import org.cloister.luks.key.DriveEnvelope;
import org.cloister.luks.key.DriveEnvelope.Recipient;
import org.cloister.luks.key.DriveEnvelope.Role;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.RecoveryKey;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingKeyFile;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A hardened process has no trace of any key after 1,000 hand-overs, all closed: not in its memory, a core dump, a heap
 * dump, its output, its files under /proc. One trace left on purpose is found. Needs root, to look past the hardening,
 * and gdb.
 */
@Tag("scenario")
@Tag("luks")
class KeyLeakSearchTest {
    private static final int COUNT = 1000;
    private static final int FEW = 10;
    private static final SecretTraces TRACES = new SecretTraces();

    @TempDir
    private static Path folder;

    /** Seals keys that only this process knows besides the child, and works out all that the child derives. */
    @BeforeAll
    static void seal() throws IOException, GeneralSecurityException {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
        LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
        Hpke hpke = new Hpke(crypto);
        Random random = new Random();
        for (int i = 0; i < COUNT; i++) {
            byte[] key = new byte[64];
            random.nextBytes(key);
            try (SealingKey receiver = hpke.generate();
                    SecretMemory secret = KnownSecrets.secret(secrets, key)) {
                byte[] sealed = hpke.seal(receiver.publicKey(), HandoverProgram.INFO, HandoverProgram.NO_DATA, secret);
                byte[] scalar = printed(crypto, receiver, "private-" + i);
                write("sealed-" + i, sealed);
                TRACES.add("key " + i, key);
                byte[] point = receiver.publicKey().bytes();
                Map<String, byte[]> derivation = HpkeIntermediates.secrets(scalar, point, sealed, HandoverProgram.INFO);
                assertThat(HpkeIntermediates.open(derivation, sealed)).isEqualTo(key);
                for (var derived : derivation.entrySet()) {
                    TRACES.add(derived.getKey() + " " + i, derived.getValue());
                }
            }
        }
        personal(secrets, crypto, random);
    }

    @ParameterizedTest
    @ValueSource(strings = {"memfd_secret", "mlock"})
    void leaves_no_trace(String keeping) throws Exception {
        try (SearchedProcess child = SearchedProcess.start(folder, COUNT, keeping, HandoverProgram.Leak.NOTHING)) {
            assertThat(child.processOutput()).contains("SecretMemory[64 bytes] true", "live 0");
            assertThat(child.memory(TRACES)).isEmpty();
            assertThat(child.files(TRACES)).isEmpty();
            assertThat(child.output(TRACES)).isEmpty();
            assertThat(child.swapped()).isEqualTo("0 kB");
            assertThat(child.coreDump(TRACES, folder)).isEmpty();
            assertThat(child.heapDump(TRACES, folder)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BYTES_ON_THE_HEAP", "HEX_IN_A_STRING", "NATIVE_COPY"})
    void finds_a_trace_that_was_left_on_purpose(HandoverProgram.Leak leak) throws Exception {
        String form = leak == HandoverProgram.Leak.HEX_IN_A_STRING ? "hex" : "raw";
        List<String> traces = List.of("key 5, first half, " + form, "key 5, second half, " + form);
        try (SearchedProcess child = SearchedProcess.start(folder, FEW, "memfd_secret", leak)) {
            assertThat(child.memory(TRACES)).containsAll(traces).allMatch(found -> found.startsWith("key 5,"));
            assertThat(child.coreDump(TRACES, folder)).containsAll(traces);
            if (leak != HandoverProgram.Leak.NATIVE_COPY) {
                assertThat(child.heapDump(TRACES, folder)).containsAll(traces);
            }
        }
    }

    /** The search sees pages that are only locked; so it is the kernel that hides those of memfd_secret, from root too. */
    @ParameterizedTest
    @ValueSource(strings = {"memfd_secret", "mlock"})
    void an_open_secret_is_hidden_by_memfd_secret_alone(String keeping) throws Exception {
        try (SearchedProcess child = SearchedProcess.start(folder, FEW, keeping, HandoverProgram.Leak.OPEN_SECRET)) {
            assertThat(child.processOutput()).contains("live 1");
            if (child.processOutput().contains("kept by memfd_secret")) {
                assertThat(child.memory(TRACES)).isEmpty();
                assertThat(child.coreDump(TRACES, folder)).isEmpty();
            } else {
                assertThat(child.memory(TRACES)).contains("key 5, first half, raw", "key 5, second half, raw");
            }
        }
    }

    private static void personal(SecretAllocator secrets, LibCryptoCalls crypto, Random random) throws IOException {
        Hpke hpke = new Hpke(crypto);
        byte[] driveKey = new byte[DriveEnvelope.KEY_LENGTH];
        random.nextBytes(driveKey);
        byte[] passphrase = "this passphrase is known to the leak test".getBytes(StandardCharsets.US_ASCII);
        try (SealingKey owner = hpke.generate();
                SealingKey safe = hpke.generate();
                SecretMemory phrase = KnownSecrets.secret(secrets, passphrase);
                SecretMemory drive = KnownSecrets.secret(secrets, driveKey)) {
            List<Recipient> recipients = List.of(
                    new Recipient("owner", Role.OWNER, owner.publicKey()),
                    new Recipient("safe", Role.RECOVERY, safe.publicKey()));
            write(
                    "envelope",
                    DriveEnvelope.seal(hpke, "drive", recipients, drive).json());
            Argon2.Cost cost = new Argon2.Cost(1, 1 << 13, 1);
            write(
                    "key-file",
                    SealingKeyFile.seal(crypto, Argon2.load(crypto), cost, owner, phrase)
                            .json());
            write("passphrase", passphrase);
            TRACES.add("owner's private key", printed(crypto, owner, "owner"));
            TRACES.add("drive key", driveKey);
            TRACES.add("passphrase", passphrase);
        }
    }

    /** Writes a private key as text for the child; returns its bytes. */
    private static byte[] printed(LibCryptoCalls crypto, SealingKey key, String name) throws IOException {
        try (SecretMemory text = new RecoveryKey(crypto).print(key)) {
            byte[] printed = KnownSecrets.bytes(text);
            write(name, printed);
            String digits = new String(printed, StandardCharsets.US_ASCII).replace("-", "");
            return HexFormat.of().parseHex(digits.substring(0, 96));
        }
    }

    private static void write(String name, byte[] bytes) throws IOException {
        Files.write(folder.resolve(name), bytes);
    }
}
