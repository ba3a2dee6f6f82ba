package org.cloister.luks.leak;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.jce.ECNamedCurveTable;
import org.bouncycastle.jce.spec.ECNamedCurveParameterSpec;

/**
 * All that is secret in opening one key that HPKE sealed in base mode, worked out a second time (RFC 9180 sections 4 and
 * 5) and in plain sight: for a test alone.
 */
final class HpkeIntermediates {
    private static final ECNamedCurveParameterSpec CURVE = ECNamedCurveTable.getParameterSpec("secp384r1");
    private static final byte[] KEM = {'K', 'E', 'M', 0, 0x11};
    private static final byte[] SUITE = {'H', 'P', 'K', 'E', 0, 0x11, 0, 2, 0, 2};
    private static final byte BASE = 0;
    private static final byte[] NONE = {};

    private HpkeIntermediates() {}

    static Map<String, byte[]> secrets(byte[] receiver, byte[] receiverPoint, byte[] sealed, byte[] info)
            throws GeneralSecurityException {
        byte[] enc = Arrays.copyOf(sealed, 97);
        byte[] dh = multiply(receiver, enc);
        byte[] prk = extract(NONE, KEM, "eae_prk", dh);
        byte[] shared = expand(prk, KEM, "shared_secret", join(enc, receiverPoint), 48);
        byte[] context = join(
                new byte[] {BASE}, extract(NONE, SUITE, "psk_id_hash", NONE), extract(NONE, SUITE, "info_hash", info));
        byte[] secret = extract(shared, SUITE, "secret", NONE);
        Map<String, byte[]> secrets = new LinkedHashMap<>();
        secrets.put("private key", receiver);
        secrets.put("ECDH with the ephemeral key", dh);
        secrets.put("eae_prk", prk);
        secrets.put("shared secret", shared);
        secrets.put("secret", secret);
        secrets.put("key", expand(secret, SUITE, "key", context, 32));
        secrets.put("base nonce", expand(secret, SUITE, "base_nonce", context, 12));
        return secrets;
    }

    /** Opens with what was worked out, which shows that it was worked out rightly. */
    static byte[] open(Map<String, byte[]> secrets, byte[] sealed) throws GeneralSecurityException {
        Cipher gcm = Cipher.getInstance("AES/GCM/NoPadding");
        gcm.init(
                Cipher.DECRYPT_MODE,
                new SecretKeySpec(secrets.get("key"), "AES"),
                new GCMParameterSpec(128, secrets.get("base nonce")));
        return gcm.doFinal(sealed, 97, sealed.length - 97);
    }

    private static byte[] multiply(byte[] scalar, byte[] point) {
        return CURVE.getCurve()
                .decodePoint(point)
                .multiply(new BigInteger(1, scalar))
                .normalize()
                .getAffineXCoord()
                .getEncoded();
    }

    private static byte[] extract(byte[] salt, byte[] suite, String label, byte[] ikm) throws GeneralSecurityException {
        return hmac(salt.length == 0 ? new byte[48] : salt, join(ascii("HPKE-v1"), suite, ascii(label), ikm));
    }

    /** One block is enough for every length here. */
    private static byte[] expand(byte[] prk, byte[] suite, String label, byte[] info, int length)
            throws GeneralSecurityException {
        byte[] labeled = join(new byte[] {0, (byte) length}, ascii("HPKE-v1"), suite, ascii(label), info);
        return Arrays.copyOf(hmac(prk, join(labeled, new byte[] {1})), length);
    }

    private static byte[] hmac(byte[] key, byte[] data) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA384");
        mac.init(new SecretKeySpec(key, "HmacSHA384"));
        return mac.doFinal(data);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }
}
