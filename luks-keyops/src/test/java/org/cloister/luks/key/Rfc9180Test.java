package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The RFC's own vectors for P-256 and P-521, base mode, through the code that P-384 runs. */
class Rfc9180Test {
    static final HpkeSuite P256 = new HpkeSuite(0x10, "prime256v1", 32, 0xff, "SHA256", 32, 1, "SHA256", 32, 1, 16);
    static final HpkeSuite P521 = new HpkeSuite(0x12, "secp521r1", 66, 0x01, "SHA512", 64, 3, "SHA512", 64, 2, 32);

    private static final byte[] INFO = hex("4f6465206f6e2061204772656369616e2055726e");
    private static final byte[] PLAIN = hex("4265617574792069732074727574682c20747275746820626561757479");
    private static final byte[] AAD = hex("436f756e742d30");

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    private final LibCryptoCalls crypto = LibCryptoCalls.load(secrets);

    Rfc9180Test() throws IOException {}

    @TestFactory
    Stream<DynamicTest> opens_and_seals_as_the_rfc_does() throws IOException {
        try (InputStream in = Objects.requireNonNull(Rfc9180Test.class.getResourceAsStream("rfc9180.txt"))) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                            .lines()
                            .filter(line -> !line.startsWith("#"))
                            .map(line -> Arrays.stream(line.split(" ", -1))
                                    .map(field -> field.split("=", 2))
                                    .collect(Collectors.toMap(field -> field[0], field -> field[1])))
                            .map(vector -> DynamicTest.dynamicTest(field(vector, "section"), () -> check(vector)))
                            .toList()
                            .stream();
        }
    }

    private void check(Map<String, String> vector) throws IOException {
        HpkeSuite suite = field(vector, "kem_id").equals("16") ? P256 : P521;
        Hpke hpke = new Hpke(crypto, suite);
        byte[] sealed = Hkdf.join(hex(field(vector, "enc")), hex(field(vector, "ct")));
        Function<String, byte[]> bytes = name -> hex(field(vector, name));
        try (SealingKey receiver = pair(hpke, bytes, "R");
                SealingKey ephemeral = pair(hpke, bytes, "E");
                SecretMemory plain = KnownSecrets.secret(secrets, PLAIN);
                SecretMemory opened = hpke.open(receiver, INFO, AAD, sealed)) {
            assertThat(KnownSecrets.bytes(opened)).isEqualTo(PLAIN);
            assertThat(receiver.publicKey().bytes()).isEqualTo(bytes.apply("pkRm"));
            assertThat(hpke.seal(receiver.publicKey(), ephemeral, INFO, AAD, plain))
                    .isEqualTo(sealed);
        }
        assertThat(secrets.liveCount()).isZero();
    }

    /** Derived from its seed, and the same as the private key that the RFC gives. */
    private SealingKey pair(Hpke hpke, Function<String, byte[]> bytes, String whose) {
        try (SecretMemory seed = KnownSecrets.secret(secrets, bytes.apply("ikm" + whose))) {
            SealingKey pair = hpke.derive(seed);
            assertThat(KnownSecrets.bytes(pair.scalar())).isEqualTo(bytes.apply("sk" + whose + "m"));
            return pair;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String field(Map<String, String> vector, String name) {
        return Objects.requireNonNull(vector.get(name), name);
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }
}
