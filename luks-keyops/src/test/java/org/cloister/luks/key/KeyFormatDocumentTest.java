package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** FORMAT.md and the code say the same: its vectors open, and are made again byte for byte where nothing is random. */
class KeyFormatDocumentTest {
    private static final SealedKeyContext CONTEXT = new SealedKeyContext(
            "ge3tqmjzgiydamzvgyzdsmbr", "ticket-17", 1, "vm-worker-3", "5a".repeat(48), "munge", 1_800_000_000L);

    private final String page =
            Files.readString(Path.of(System.getProperty("cloister.root"), "luks-keyops", "FORMAT.md"));
    private final Map<String, String> vectors = vectors(page);
    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    private final LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
    private final Hpke hpke = new Hpke(crypto);

    KeyFormatDocumentTest() throws IOException {}

    @AfterEach
    void no_secret_is_left_behind() {
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void sealed_keys() throws IOException {
        assertThat(CONTEXT.encode()).isEqualTo(hex("context"));
        byte[] info = SealedKeyContext.info();
        byte[] aad = hex("context");
        try (SealingKey sender = key("sender-private");
                SealingKey receiver = key("receiver-private");
                SealingKey ephemeral = key("ephemeral-private");
                SecretMemory secret = KnownSecrets.secret(secrets, hex("secret"));
                SecretMemory fromSender = hpke.openFrom(sender.publicKey(), receiver, info, aad, hex("sealed-auth"));
                SecretMemory fromAnyone = hpke.open(receiver, info, aad, hex("sealed-base"))) {
            assertThat(fromSender.sameAs(secret)).isTrue();
            assertThat(fromAnyone.sameAs(secret)).isTrue();
            assertThat(hpke.seal(receiver.publicKey(), ephemeral, sender, info, aad, secret))
                    .isEqualTo(hex("sealed-auth"));
            assertThat(hpke.seal(receiver.publicKey(), ephemeral, null, info, aad, secret))
                    .isEqualTo(hex("sealed-base"));
        }
    }

    @Test
    void keys_for_vms_that_boot() throws IOException {
        Map<BootKeyContext.Use, List<String>> uses = Map.of(
                BootKeyContext.Use.HAND_OVER, List.of("hand-over-info", "sealed-hand-over", "secret"),
                BootKeyContext.Use.UNLOCK, List.of("unlock-info", "sealed-unlock", "drive-key"));
        for (Map.Entry<BootKeyContext.Use, List<String>> each : uses.entrySet()) {
            byte[] info = hex(each.getValue().get(0));
            byte[] sealed = hex(each.getValue().get(1));
            BootKeyContext context = BootKeyContext.read(info);
            assertThat(context.use()).isEqualTo(each.getKey());
            try (SealingKey receiver = key("receiver-private");
                    SealingKey ephemeral = key("ephemeral-private");
                    SecretMemory secret =
                            KnownSecrets.secret(secrets, hex(each.getValue().get(2)));
                    SecretMemory opened = hpke.open(receiver, context, sealed)) {
                assertThat(opened.sameAs(secret)).isTrue();
                assertThat(hpke.seal(receiver.publicKey(), ephemeral, null, info, new byte[0], secret))
                        .isEqualTo(sealed);
            }
        }
    }

    @Test
    void drive_envelope() throws IOException {
        DriveEnvelope envelope = DriveEnvelope.read(ascii("envelope"));
        assertThat(envelope.json()).isEqualTo(ascii("envelope"));
        try (SealingKey owner = key("owner-private");
                SealingKey safe = key("safe-private");
                SecretMemory driveKey = KnownSecrets.secret(secrets, hex("drive-key"));
                SecretMemory byOwner = envelope.open(hpke, owner);
                SecretMemory bySafe = envelope.open(hpke, safe)) {
            assertThat(byOwner.sameAs(driveKey)).isTrue();
            assertThat(bySafe.sameAs(driveKey)).isTrue();
        }
    }

    @Test
    void key_file() throws IOException {
        SealingKeyFile file = SealingKeyFile.read(ascii("key-file"));
        assertThat(file.json()).isEqualTo(ascii("key-file"));
        try (SecretMemory passphrase = KnownSecrets.secret(secrets, ascii("passphrase"));
                SealingKey opened = file.open(crypto, Argon2.load(crypto), passphrase)) {
            assertThat(KnownSecrets.bytes(opened.scalar())).isEqualTo(hex("owner-private"));
        }
    }

    @Test
    void recovery_key() throws IOException {
        try (SecretMemory text = KnownSecrets.secret(secrets, ascii("recovery-key"));
                SealingKey read = new RecoveryKey(crypto).read(text);
                SecretMemory printed = new RecoveryKey(crypto).print(read)) {
            assertThat(KnownSecrets.bytes(read.scalar())).isEqualTo(hex("safe-private"));
            assertThat(printed.sameAs(text)).isTrue();
        }
    }

    @Test
    void names_and_limits() {
        Argon2.Cost cost = Argon2.Cost.DEFAULT;
        assertThat(page.replaceAll("\\s+", " "))
                .contains("`" + DriveEnvelope.TYPE + "`")
                .contains("at most " + KeyFormatJson.MAX_DOCUMENT + " bytes")
                .contains("A secret has 1 to " + Hpke.MAX_SECRET + " bytes")
                .contains(DriveEnvelope.MIN_RECIPIENTS + " to " + DriveEnvelope.MAX_RECIPIENTS + " objects")
                .contains("The drive key has " + DriveEnvelope.KEY_LENGTH + " bytes")
                .contains("Written with " + cost.passes() + " passes, " + cost.memory() + " KiB, " + cost.lanes()
                        + " lanes")
                .contains("fields(`" + BootKeyContext.Use.HAND_OVER.label() + "`, project, ticket, slot, vm, nonce)")
                .contains("fields(`" + BootKeyContext.Use.UNLOCK.label() + "`, project, opening, vm, nonce, epoch)")
                .contains("`" + new String(SealedKeyContext.info(), StandardCharsets.US_ASCII) + "`");
    }

    private SealingKey key(String vector) throws KeyException, SecretException {
        return hpke.key(KnownSecrets.secret(secrets, hex(vector)));
    }

    private byte[] hex(String vector) {
        return HexFormat.of().parseHex(vector(vector));
    }

    private byte[] ascii(String vector) {
        return vector(vector).getBytes(StandardCharsets.US_ASCII);
    }

    private String vector(String name) {
        return Objects.requireNonNull(vectors.get(name), name);
    }

    private static Map<String, String> vectors(String page) {
        Map<String, String> vectors = new LinkedHashMap<>();
        Matcher block = Pattern.compile("```vectors\n(.*?)```", Pattern.DOTALL).matcher(page);
        while (block.find()) {
            for (String line : block.group(1).split("\n", -1)) {
                if (!line.isEmpty()) {
                    int colon = line.indexOf(": ");
                    vectors.put(line.substring(0, colon), line.substring(colon + 2));
                }
            }
        }
        return vectors;
    }
}
