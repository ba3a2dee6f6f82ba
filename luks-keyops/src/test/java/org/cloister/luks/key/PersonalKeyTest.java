package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The keys of people: a key file under a passphrase, and a printed recovery key. */
class PersonalKeyTest {
    private static final Argon2.Cost CHEAP = new Argon2.Cost(1, 1 << 13, 1);

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    private final LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
    private final Argon2 argon2 = Argon2.load(crypto);
    private final SealingKey key = new Hpke(crypto).generate();

    PersonalKeyTest() throws IOException {}

    @AfterEach
    void no_secret_is_left_behind() {
        key.close();
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void a_key_file_opens_with_its_passphrase_alone() throws IOException {
        try (SecretMemory passphrase = text("correct horse");
                SecretMemory other = text("correct horsf")) {
            SealingKeyFile file = SealingKeyFile.read(
                    SealingKeyFile.seal(crypto, argon2, CHEAP, key, passphrase).json());
            assertThat(file.publicKey()).isEqualTo(key.publicKey());
            try (SealingKey opened = file.open(crypto, argon2, passphrase)) {
                assertThat(opened.scalar().sameAs(key.scalar())).isTrue();
            }
            assertThatThrownBy(() -> file.open(crypto, argon2, other)).isInstanceOf(KeyException.Refused.class);
        }
    }

    @Test
    void each_change_of_a_key_file_is_refused() throws IOException {
        try (SecretMemory passphrase = text("p");
                SealingKey other = new Hpke(crypto).generate()) {
            byte[] json =
                    SealingKeyFile.seal(crypto, argon2, CHEAP, key, passphrase).json();
            String text = new String(json, StandardCharsets.US_ASCII);
            String foreign = new String(
                    SealingKeyFile.seal(crypto, argon2, CHEAP, other, passphrase)
                            .json(),
                    StandardCharsets.US_ASCII);
            for (String changed : List.of(
                    text.replace("\"passes\":1", "\"passes\":2"),
                    text.replace("\"memory\":8192", "\"memory\":8193"),
                    text.replace("\"lanes\":1", "\"lanes\":2"),
                    text.replaceFirst("\"public\":\"[^\"]*\"", member(foreign, "public")),
                    text.replaceFirst("\"salt\":\"[^\"]*\"", member(foreign, "salt")),
                    text.replaceFirst("\"sealed\":\"[^\"]*\"", member(foreign, "sealed")))) {
                assertThat(changed).isNotEqualTo(text);
                SealingKeyFile file = SealingKeyFile.read(changed.getBytes(StandardCharsets.US_ASCII));
                assertThatThrownBy(() -> file.open(crypto, argon2, passphrase))
                        .isInstanceOf(KeyException.Refused.class);
            }
        }
    }

    @Test
    void costs_beyond_reason_are_not_tried() throws IOException {
        try (SecretMemory passphrase = text("p")) {
            String text = new String(
                    SealingKeyFile.seal(crypto, argon2, CHEAP, key, passphrase).json(), StandardCharsets.US_ASCII);
            for (String bad : List.of(
                    text.replace("\"passes\":1", "\"passes\":17"),
                    text.replace("\"passes\":1", "\"passes\":0"),
                    text.replace("\"memory\":8192", "\"memory\":1048577"),
                    text.replace("\"memory\":8192", "\"memory\":8191"),
                    text.replace("\"lanes\":1", "\"lanes\":9"),
                    text.replace("argon2id", "argon2i"),
                    text.replace("\"version\":1", "\"version\":3"))) {
                assertThat(bad).isNotEqualTo(text);
                assertThatThrownBy(() -> SealingKeyFile.read(bad.getBytes(StandardCharsets.US_ASCII)))
                        .isInstanceOf(KeyException.Malformed.class);
            }
        }
    }

    @Test
    void a_recovery_key_is_read_however_it_was_typed() throws IOException {
        RecoveryKey recovery = new RecoveryKey(crypto);
        try (SecretMemory printed = recovery.print(key)) {
            String text = new String(KnownSecrets.bytes(printed), StandardCharsets.US_ASCII);
            assertThat(text).matches("([0-9A-F]{8}-){12}[0-9A-F]{8}");
            for (String typed : List.of(
                    text, text.toLowerCase(Locale.ROOT), text.replace('-', ' ') + "\n", text.replace("-", "\r\n"))) {
                try (SecretMemory secret = text(typed);
                        SealingKey read = recovery.read(secret)) {
                    assertThat(read.scalar().sameAs(key.scalar())).isTrue();
                    assertThat(read.publicKey()).isEqualTo(key.publicKey());
                }
            }
        }
    }

    @Test
    void one_wrong_digit_of_a_recovery_key_is_found() throws IOException {
        RecoveryKey recovery = new RecoveryKey(crypto);
        try (SecretMemory printed = recovery.print(key)) {
            String text = new String(KnownSecrets.bytes(printed), StandardCharsets.US_ASCII);
            for (int at = 0; at < text.length(); at++) {
                if (text.charAt(at) != '-') {
                    char other = text.charAt(at) == '0' ? '1' : '0';
                    String wrong = text.substring(0, at) + other + text.substring(at + 1);
                    assertRefused(recovery, wrong, "a wrong digit");
                }
            }
            assertRefused(recovery, text.substring(1), "have 103");
            assertRefused(recovery, text + "0", "have 105");
            assertRefused(recovery, "G" + text.substring(1), "other characters");
            assertRefused(recovery, " ".repeat(513), "have 513");
        }
    }

    @Test
    void a_missing_library_shows_at_the_start() {
        assertThatThrownBy(() -> Argon2.load(crypto, "libargon2.so.99"))
                .isInstanceOf(SecretException.class)
                .hasMessageEndingWith("install libargon2-1");
    }

    private void assertRefused(RecoveryKey recovery, String typed, String actual) throws IOException {
        try (SecretMemory secret = text(typed)) {
            assertThatThrownBy(() -> recovery.read(secret))
                    .isInstanceOf(KeyException.Malformed.class)
                    .hasMessageContaining(actual);
        }
    }

    private SecretMemory text(String text) throws SecretException {
        return KnownSecrets.secret(secrets, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String member(String json, String name) {
        return json.replaceFirst(".*(\"" + name + "\":\"[^\"]*\").*", "$1");
    }
}
