package org.cloister.protocol.dsse;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DsseEnvelopeTest {
    private static final String TYPE = "application/vnd.cloister.test+json";
    private static final byte[] PAYLOAD = "{\"a\": 1}".getBytes(UTF_8);
    private static final int LIMIT = 64 * 1024;

    private final SigningKey first = key(SignatureCurve.P384);
    private final SigningKey second = key(SignatureCurve.P256);
    private final SigningKey third = key(SignatureCurve.P384);

    static SigningKey key(SignatureCurve curve) {
        try {
            return SigningKey.of(pair(curve.standardName()));
        } catch (MalformedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyPair pair(String curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<VerificationKey> keys(SigningKey... keys) {
        return List.of(keys).stream().map(SigningKey::verificationKey).toList();
    }

    /** The one of DSSE's protocol.md, whose signature is r and s side by side; as ECDSA-Sig-Value it is what we take. */
    @Test
    void the_specification_s_vector() throws Exception {
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec("secp256r1"));
        VerificationKey key = VerificationKey.of(KeyFactory.getInstance("EC")
                .generatePublic(new ECPublicKeySpec(
                        new ECPoint(
                                new BigInteger(
                                        "46950820868899156662930047687818585632848591499744589407958293238635476079160"),
                                new BigInteger(
                                        "5640078356564379163099075877009565129882514886557779369047442380624545832820")),
                        curve.getParameterSpec(ECParameterSpec.class))));
        String type = "http://example.com/HelloWorld";
        assertThat(DsseEnvelope.preAuthenticationEncoding(type, "hello world".getBytes(UTF_8)))
                .asString(UTF_8)
                .isEqualTo("DSSEv1 29 http://example.com/HelloWorld 11 hello world");
        byte[] raw = Base64.getDecoder()
                .decode("A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==");
        DsseEnvelope envelope = envelope("aGVsbG8gd29ybGQ=", type, signature(key.id(), der(raw)));
        assertThat(envelope.verify(type, List.of(key), 1)).asString(UTF_8).isEqualTo("hello world");
        DsseEnvelope asItIs = envelope("aGVsbG8gd29ybGQ=", type, signature(key.id(), raw));
        assertThatThrownBy(() -> asItIs.verify(type, List.of(key), 1)).isInstanceOf(EnvelopeRefusedException.class);
    }

    @Test
    void the_encoding_counts_bytes_and_not_characters() {
        assertThat(DsseEnvelope.preAuthenticationEncoding("t", "ä".getBytes(UTF_8)))
                .asString(UTF_8)
                .isEqualTo("DSSEv1 1 t 2 ä");
        assertThat(DsseEnvelope.preAuthenticationEncoding("t", new byte[0]))
                .asString(UTF_8)
                .isEqualTo("DSSEv1 1 t 0 ");
    }

    @ParameterizedTest
    @EnumSource(SignatureCurve.class)
    void what_is_signed_is_verified_after_the_way(SignatureCurve curve) throws Exception {
        SigningKey key = key(curve);
        DsseEnvelope made = DsseEnvelope.sign(TYPE, PAYLOAD, key);
        DsseEnvelope read = DsseEnvelope.parse(made.bytes(), LIMIT);
        assertThat(read.verify(TYPE, keys(key), 1)).isEqualTo(PAYLOAD);
        assertThat(read.bytes()).isEqualTo(made.bytes());
        assertThat(read.payloadSha256()).isEqualTo(made.payloadSha256());
    }

    @Test
    void a_threshold_counts_keys() throws Exception {
        DsseEnvelope one = DsseEnvelope.sign(TYPE, PAYLOAD, first);
        DsseEnvelope twice = one.countersign(first);
        assertRefused(twice, 2, first, second, third);
        DsseEnvelope two = twice.countersign(second);
        assertThat(two.verify(TYPE, keys(first, second, third), 2)).isEqualTo(PAYLOAD);
        assertThat(two.signers(TYPE, keys(third, second, first))).containsExactlyElementsOf(keys(first, second));
        assertRefused(two, 3, first, second, third);
        assertRefused(two, 2, first, third);
        assertRefused(two, 2, first, first);
        assertRefused(two, 3, first, second);
        assertThatThrownBy(() -> two.verify(TYPE, keys(first), 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_refusal_names_the_keys_that_did_not_sign() throws Exception {
        DsseEnvelope one = DsseEnvelope.sign(TYPE, PAYLOAD, first);
        EnvelopeRefusedException e = assertRefused(one, 2, first, second);
        assertThat(e)
                .hasMessageContaining("want signatures of 2 of 2 keys, have 1")
                .hasMessageContaining("1 more of " + second.verificationKey().id());
    }

    @Test
    void another_type_is_refused_before_anything_else() throws Exception {
        DsseEnvelope envelope = DsseEnvelope.sign("application/vnd.cloister.other+json", PAYLOAD, first);
        EnvelopeRefusedException e =
                catchThrowableOfType(EnvelopeRefusedException.class, () -> envelope.verify(TYPE, keys(first), 1));
        assertThat(e.reason()).isEqualTo(EnvelopeRefusedException.Reason.OTHER_TYPE);
        assertThat(e).hasMessageContaining(TYPE).hasMessageContaining("application/vnd.cloister.other+json");
    }

    @Test
    void a_relabelled_or_changed_payload_is_refused() throws Exception {
        String made = new String(
                DsseEnvelope.sign("application/vnd.cloister.other+json", PAYLOAD, first)
                        .bytes(),
                UTF_8);
        assertRefused(parse(made.replace("vnd.cloister.other", "vnd.cloister.test")), 1, first);
        String other = made.replace("vnd.cloister.other", "vnd.cloister.test")
                .replace(BinaryText.base64(PAYLOAD), BinaryText.base64("{\"a\": 2}".getBytes(UTF_8)));
        assertRefused(parse(other), 1, first);
    }

    @Test
    void a_key_id_is_a_hint_and_gives_nothing() throws Exception {
        String made = new String(DsseEnvelope.sign(TYPE, PAYLOAD, second).bytes(), UTF_8);
        String claimed = made.replace(
                second.verificationKey().id(), first.verificationKey().id());
        assertRefused(parse(claimed), 1, first, second);
    }

    @Test
    void a_broken_signature_does_not_hide_the_whole_one_behind_it() throws Exception {
        String id = first.verificationKey().id();
        String made = new String(DsseEnvelope.sign(TYPE, PAYLOAD, first).bytes(), UTF_8);
        String broken = made.replace(
                "\"signatures\":[",
                "\"signatures\":[" + signature(id, new byte[] {1, 2, 3}) + "," + signature("", new byte[0]) + ",");
        assertThat(parse(broken).verify(TYPE, keys(first), 1)).isEqualTo(PAYLOAD);
    }

    @Test
    void url_safe_base64_and_members_of_others_are_taken() throws Exception {
        byte[] payload = {(byte) 0xfb, (byte) 0xef, (byte) 0xff};
        String made = new String(DsseEnvelope.sign(TYPE, payload, first).bytes(), UTF_8);
        assertThat(made).contains("++//");
        DsseEnvelope other =
                parse(made.replace("++//", "--__").replace("{\"payload\"", "{\"extension\":{},\"payload\""));
        assertThat(other.verify(TYPE, keys(first), 1)).isEqualTo(payload);
        assertThatThrownBy(() -> parse(made.replace("++//", "+-_/"))).isInstanceOf(MalformedException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]",
                "{}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"signatures\":[]}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"signatures\":{}}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"signatures\":[1]}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"signatures\":[{\"keyid\":\"\"}]}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"signatures\":[{\"sig\":\"Zh==\"}]}",
                "{\"payloadType\":\"t\",\"payload\":\"Zg\",\"signatures\":[{\"sig\":\"Zg==\"}]}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"payload\":\"\",\"signatures\":[{\"sig\":\"Zg==\"}]}",
                "{\"payloadType\":\"\",\"payload\":\"\",\"signatures\":[{\"sig\":\"Zg==\"}]}",
                "{\"payloadType\":\"t t\",\"payload\":\"\",\"signatures\":[{\"sig\":\"Zg==\"}]}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"signatures\":[{\"sig\":\"Zg==\",\"keyid\":1}]}",
                "{\"payloadType\":\"t\",\"payload\":\"\",\"signatures\":[{\"sig\":\"Zg==\"}]} {}",
            })
    void refuses_what_is_no_envelope(String document) {
        assertThatThrownBy(() -> parse(document)).isInstanceOf(MalformedException.class);
    }

    @Test
    void refuses_more_bytes_or_signatures_than_there_may_be() throws Exception {
        byte[] bytes = DsseEnvelope.sign(TYPE, PAYLOAD, first).bytes();
        assertThat(DsseEnvelope.parse(bytes, bytes.length).payloadType()).isEqualTo(TYPE);
        assertThatThrownBy(() -> DsseEnvelope.parse(bytes, bytes.length - 1)).isInstanceOf(MalformedException.class);
        String one = signature("", new byte[1]);
        String most = (one + ",").repeat(DsseEnvelope.MAX_SIGNATURES - 1) + one;
        assertThat(envelope("", TYPE, most).payloadType()).isEqualTo(TYPE);
        assertThatThrownBy(() -> envelope("", TYPE, most + "," + one)).isInstanceOf(MalformedException.class);
        assertThatThrownBy(() -> envelope("", TYPE, most).countersign(first))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_key_that_does_not_belong_to_its_name_signs_nothing() throws Exception {
        SigningKey mixed = SigningKey.of(new KeyPair(
                first.verificationKey().publicKey(), pair("secp384r1").getPrivate()));
        assertThatThrownBy(() -> DsseEnvelope.sign(TYPE, PAYLOAD, mixed)).isInstanceOf(GeneralSecurityException.class);
    }

    private static EnvelopeRefusedException assertRefused(DsseEnvelope envelope, int threshold, SigningKey... keys) {
        EnvelopeRefusedException e = catchThrowableOfType(
                EnvelopeRefusedException.class, () -> envelope.verify(TYPE, keys(keys), threshold));
        assertThat(e).isNotNull();
        assertThat(e.reason()).isEqualTo(EnvelopeRefusedException.Reason.TOO_FEW_SIGNATURES);
        return e;
    }

    private static DsseEnvelope parse(String document) throws MalformedException {
        return DsseEnvelope.parse(document.getBytes(UTF_8), LIMIT);
    }

    private static DsseEnvelope envelope(String payload, String type, String signatures) throws MalformedException {
        return parse("{\"payload\":\"" + payload + "\",\"payloadType\":\"" + type + "\",\"signatures\":[" + signatures
                + "]}");
    }

    private static String signature(String keyId, byte[] signature) {
        return "{\"keyid\":\"" + keyId + "\",\"sig\":\"" + BinaryText.base64(signature) + "\"}";
    }

    /** Both numbers of 32 bytes as the two INTEGERs of a SEQUENCE. */
    private static byte[] der(byte[] raw) {
        byte[] r = new BigInteger(1, Arrays.copyOf(raw, 32)).toByteArray();
        byte[] s = new BigInteger(1, Arrays.copyOfRange(raw, 32, 64)).toByteArray();
        byte[] der = new byte[6 + r.length + s.length];
        der[0] = 0x30;
        der[1] = (byte) (der.length - 2);
        der[2] = 2;
        der[3] = (byte) r.length;
        System.arraycopy(r, 0, der, 4, r.length);
        der[4 + r.length] = 2;
        der[5 + r.length] = (byte) s.length;
        System.arraycopy(s, 0, der, 6 + r.length, s.length);
        return der;
    }
}
