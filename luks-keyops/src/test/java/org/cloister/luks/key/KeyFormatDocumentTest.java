package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.LengthPrefixedFields;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** FORMAT.md and the code say the same: its vectors open, and are made again byte for byte where nothing is random. */
class KeyFormatDocumentTest {
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
    void keys_for_vms_that_boot() throws IOException {
        sealedKey(
                "cloister hand-over v1",
                "project, ticket, slot, vm, nonce",
                "hand-over-info",
                "sealed-hand-over",
                "secret");
        sealedKey(
                "cloister unlock v1",
                "project, opening, vm, nonce, epoch",
                "unlock-info",
                "sealed-unlock",
                "drive-key");
    }

    private void sealedKey(String label, String fields, String context, String vector, String plain)
            throws IOException {
        byte[] info = hex(context);
        assertThat(info).startsWith(LengthPrefixedFields.encode(LengthPrefixedFields.text(label)));
        assertThat(page).contains("fields(`" + label + "`, " + fields + ")");
        try (SealingKey receiver = key("receiver-private");
                SealingKey ephemeral = key("ephemeral-private");
                SecretMemory secret = KnownSecrets.secret(secrets, hex(plain));
                SecretMemory opened = hpke.open(receiver, info, new byte[0], hex(vector))) {
            assertThat(opened.sameAs(secret)).isTrue();
            assertThat(hpke.seal(receiver.publicKey(), ephemeral, info, new byte[0], secret))
                    .isEqualTo(hex(vector));
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
                        + " lanes");
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
