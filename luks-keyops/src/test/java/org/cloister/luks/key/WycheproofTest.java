package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Project Wycheproof's vectors for what we call, from a checkout of github.com/C2SP/wycheproof:
 * {@code -Dwycheproof=CHECKOUT/testvectors_v1}. They are not in this tree.
 */
@EnabledIfSystemProperty(named = "wycheproof", matches = ".+")
class WycheproofTest {
    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    private final LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
    private int run;

    WycheproofTest() throws IOException {}

    @AfterEach
    void no_secret_is_left_behind_and_something_ran() {
        assertThat(secrets.liveCount()).isZero();
        assertThat(run).isGreaterThan(50);
    }

    @Test
    void ecdh() throws IOException {
        EcdhCurve curve = new EcdhCurve(crypto, HpkeSuite.P384);
        for (JsonNode group : read("ecdh_secp384r1_ecpoint_test.json").get("testGroups")) {
            for (JsonNode test : group.get("tests")) {
                byte[] point = hex(test, "public");
                boolean valid = test.get("result").asText().equals("valid") && point.length == SealingPublicKey.LENGTH;
                try (SecretMemory scalar = KnownSecrets.secret(secrets, padded(hex(test, "private"), 48));
                        SecretMemory shared = secrets.allocate(48)) {
                    curve.agree(scalar, SealingPublicKey.of(point), shared, 0);
                    assertThat(KnownSecrets.bytes(shared)).as(test.toString()).isEqualTo(hex(test, "shared"));
                    assertThat(valid).as(test.toString()).isTrue();
                } catch (KeyException.Malformed e) {
                    assertThat(valid).as(test.toString()).isFalse();
                }
                run++;
            }
        }
    }

    @Test
    void hkdf() throws IOException {
        Hkdf hkdf = new Hkdf(crypto, "SHA384", 48, new byte[0]);
        for (JsonNode group : read("hkdf_sha384_test.json").get("testGroups")) {
            for (JsonNode test : group.get("tests")) {
                int size = test.get("size").asInt();
                byte[] salt = hex(test, "salt");
                // Lengths beyond the hash's 255 blocks are refused; ours are all below one block.
                if (!test.get("result").asText().equals("valid") || hex(test, "ikm").length == 0) {
                    continue;
                }
                try (SecretMemory ikm = KnownSecrets.secret(secrets, hex(test, "ikm"));
                        SecretMemory saltSecret = salt.length == 0 ? null : KnownSecrets.secret(secrets, salt);
                        SecretMemory prk = hkdf.extract(saltSecret, ikm);
                        SecretMemory okm = hkdf.expand(prk, hex(test, "info"), size)) {
                    assertThat(KnownSecrets.bytes(okm)).as(test.toString()).isEqualTo(hex(test, "okm"));
                }
                run++;
            }
        }
    }

    @Test
    void aesGcm() throws IOException {
        AesGcm gcm = new AesGcm(crypto);
        for (JsonNode group : read("aes_gcm_test.json").get("testGroups")) {
            boolean ours = group.get("ivSize").asInt() == 96
                    && group.get("tagSize").asInt() == 128
                    && group.get("keySize").asInt() != 192;
            for (JsonNode test : group.get("tests")) {
                if (ours && hex(test, "msg").length > 0) {
                    check(gcm, test);
                    run++;
                }
            }
        }
    }

    private void check(AesGcm gcm, JsonNode test) throws SecretException, KeyException {
        boolean valid = test.get("result").asText().equals("valid");
        byte[] aad = hex(test, "aad");
        byte[] sealed = Hkdf.join(hex(test, "ct"), hex(test, "tag"));
        try (SecretMemory key = KnownSecrets.secret(secrets, hex(test, "key"));
                SecretMemory nonce = KnownSecrets.secret(secrets, hex(test, "iv"));
                SecretMemory plain = KnownSecrets.secret(secrets, hex(test, "msg"))) {
            if (valid) {
                assertThat(gcm.seal(key, nonce, aad, plain)).isEqualTo(sealed);
            }
            try (SecretMemory opened =
                    gcm.open(key, nonce, aad, sealed, new KeyException.Refused("gcm", "a tag", "none"))) {
                assertThat(valid && opened.sameAs(plain)).as(test.toString()).isTrue();
            } catch (KeyException.Refused e) {
                assertThat(valid).as(test.toString()).isFalse();
            }
        }
    }

    private static JsonNode read(String file) throws IOException {
        return new ObjectMapper()
                .readTree(Path.of(System.getProperty("wycheproof"), file).toFile());
    }

    private static byte[] hex(JsonNode test, String field) {
        return HexFormat.of().parseHex(test.get(field).asText());
    }

    private static byte[] padded(byte[] number, int length) {
        byte[] padded = new byte[length];
        byte[] digits =
                number.length > length ? Arrays.copyOfRange(number, number.length - length, number.length) : number;
        System.arraycopy(digits, 0, padded, length - digits.length, digits.length);
        return padded;
    }
}
