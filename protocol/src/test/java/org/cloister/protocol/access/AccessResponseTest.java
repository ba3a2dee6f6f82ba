package org.cloister.protocol.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.TestFrames;
import org.cloister.protocol.access.wire.Granted;
import org.cloister.protocol.access.wire.Refused;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AccessResponseTest {
    /** The generator of P-384. */
    static final SshPublicKey KEY = new SshPublicKey(
            "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBKqHyiK+iwU3jrHHHvMgrXRuHTtii6ebmFn3QeCCVCo4VQLy"
                    + "Xb9VKWw6VF44cnYKtzYX3kqWJixvXZ6Yv5KS3Cn49B29KJoUfOnaMRO18LjACmCxzh1+gZ16Qx18kOoOXw==");

    private final String document;

    AccessResponseTest() throws Exception {
        document = Files.readString(Path.of("..", "docs", "protocol.md"));
    }

    private byte[] vector(String name) {
        Matcher block =
                Pattern.compile("```vector " + name + "\\R([0-9a-f\\s]+)```").matcher(document);
        assertThat(block.find()).as(name).isTrue();
        return HexFormat.of().parseHex(block.group(1).replaceAll("\\s", ""));
    }

    @Test
    void answers_travel_as_the_examples_show() throws Exception {
        AccessResponse granted = new AccessResponse.Granted(KEY, "ada");
        AccessResponse refused = new AccessResponse.Refused(AccessResponse.Refused.MEMBER, "no member");
        for (var each :
                Map.of("access-granted", granted, "access-refused", refused).entrySet()) {
            byte[] frame = TestFrames.frame(each.getValue().wire());
            assertThat(HexFormat.of().formatHex(frame)).isEqualTo(HexFormat.of().formatHex(vector(each.getKey())));
            assertThat(AccessResponse.read(Arrays.copyOfRange(frame, Integer.BYTES, frame.length)))
                    .isEqualTo(each.getValue());
            assertThat(frame.length).isLessThan(ProtocolLimits.ACCESS_BYTES);
        }
        for (String word : List.of(
                AccessResponse.Refused.MEMBER,
                AccessResponse.Refused.SESSIONS,
                AccessResponse.Refused.RECORD,
                AccessResponse.Refused.TROUBLE)) {
            assertThat(document).contains("| `" + word + "` |");
        }
    }

    private static byte[] granted(String key, String login) {
        return org.cloister.protocol.access.wire.AccessAnswer.newBuilder()
                .setGranted(Granted.newBuilder().setHostKey(key).setLogin(login))
                .build()
                .toByteArray();
    }

    private static byte[] refused(String word, String text) {
        return org.cloister.protocol.access.wire.AccessAnswer.newBuilder()
                .setRefused(Refused.newBuilder().setWord(word).setText(text))
                .build()
                .toByteArray();
    }

    @Test
    void what_a_vm_says_becomes_an_answer_or_an_error() {
        for (byte[] bad : List.of(
                new byte[0],
                new byte[] {1, 2, 3},
                granted(KEY.toString(), "Ada"),
                granted(KEY.toString(), "ada\nProxyCommand x"),
                granted(KEY + " comment", "ada"),
                granted(KEY + "\n*", "ada"),
                granted("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBBi", "ada"),
                granted(SshPublicKey.KIND + " " + "A".repeat(182) + "==", "ada"),
                refused("", "text"),
                refused("Two words", "text"),
                refused("word", ""),
                refused("word", "\u001b[2J"),
                refused("word", "x".repeat(513)))) {
            assertThatThrownBy(() -> AccessResponse.read(bad))
                    .as(HexFormat.of().formatHex(bad))
                    .isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void a_certificates_key_is_the_one_that_openssh_makes_of_it(@TempDir Path folder) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp384r1"));
        var pair = generator.generateKeyPair();
        Path file = Files.writeString(
                folder.resolve("key"),
                "-----BEGIN PUBLIC KEY-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(pair.getPublic().getEncoded())
                        + "\n-----END PUBLIC KEY-----\n");
        Process keygen = new ProcessBuilder("ssh-keygen", "-i", "-m", "PKCS8", "-f", file.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(keygen.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertThat(keygen.waitFor(20, TimeUnit.SECONDS)).isTrue();
        SshPublicKey key = SshPublicKey.of(VerificationKey.of(pair.getPublic()));
        assertThat(output.strip()).isEqualTo(key.toString());
        assertThat(SshPublicKey.parse(key.toString())).isEqualTo(key);
    }
}
