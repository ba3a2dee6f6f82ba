package org.cloister.luks.key;

import java.security.PublicKey;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import jnr.ffi.byref.NativeLongByReference;
import jnr.ffi.byref.PointerByReference;
import org.cloister.luks.key.LibCryptoCalls.Native;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;

/**
 * P-384 in libcrypto: key pairs, and ECDSA with SHA-384. Public keys are points, uncompressed; private keys stay
 * in libcrypto, on its secure heap. Safe for use by several threads.
 */
final class P384Calls {
    static final String CURVE = "P-384";
    /** SubjectPublicKeyInfo up to the uncompressed point (RFC 5480). */
    private static final byte[] SPKI_HEAD = HexFormat.of().parseHex("3076301006072a8648ce3d020106052b81040022036200");

    private static final String DIGEST = "SHA384";
    private static final int POINT = 97;
    /** The longest ECDSA-Sig-Value in DER: two numbers of 49 bytes. */
    private static final int SIGNATURE = 104;

    private static final int PUBLIC_KEY = 0x86;

    private final LibCryptoCalls crypto;
    private final LibCrypto lib;

    P384Calls(LibCryptoCalls crypto) {
        this.crypto = crypto;
        this.lib = crypto.lib();
    }

    /** Returns the point of a key of the runtime; empty if it is not one of P-384. */
    static Optional<byte[]> point(PublicKey key) {
        byte[] spki = key.getEncoded();
        boolean is = spki != null
                && spki.length == SPKI_HEAD.length + POINT
                && Arrays.equals(spki, 0, SPKI_HEAD.length, SPKI_HEAD, 0, SPKI_HEAD.length);
        return is ? Optional.of(Arrays.copyOfRange(spki, SPKI_HEAD.length, spki.length)) : Optional.empty();
    }

    /** Returns the SubjectPublicKeyInfo of a point. */
    static byte[] spki(byte[] point) {
        byte[] spki = Arrays.copyOf(SPKI_HEAD, SPKI_HEAD.length + point.length);
        System.arraycopy(point, 0, spki, SPKI_HEAD.length, point.length);
        return spki;
    }

    Native generate() throws KeyException {
        try (Native context = crypto.keyContext()) {
            crypto.check("EVP_PKEY_keygen_init", lib.EVP_PKEY_keygen_init(context.pointer()));
            crypto.check("EVP_PKEY_CTX_set_group_name", lib.EVP_PKEY_CTX_set_group_name(context.pointer(), CURVE));
            PointerByReference key = new PointerByReference();
            crypto.check("EVP_PKEY_generate", lib.EVP_PKEY_generate(context.pointer(), key));
            return crypto.own("EVP_PKEY_generate", key.getValue(), lib::EVP_PKEY_free);
        }
    }

    byte[] publicPoint(Native key) throws KeyException {
        byte[] point = new byte[POINT];
        NativeLongByReference length = new NativeLongByReference(POINT);
        crypto.check(
                "EVP_PKEY_get_octet_string_param",
                lib.EVP_PKEY_get_octet_string_param(key.pointer(), "pub", point, POINT, length));
        crypto.check("EVP_PKEY_get_octet_string_param", length.intValue() == POINT ? 1 : 0);
        return point;
    }

    /** Returns the private key in PKCS#8; the caller closes it. */
    SecretMemory pkcs8(Native key) throws KeyException, SecretException {
        try (Native pkcs8 =
                crypto.own("EVP_PKEY2PKCS8", lib.EVP_PKEY2PKCS8(key.pointer()), lib::PKCS8_PRIV_KEY_INFO_free)) {
            int length = lib.i2d_PKCS8_PRIV_KEY_INFO(pkcs8.pointer(), null);
            crypto.check("i2d_PKCS8_PRIV_KEY_INFO", length);
            SecretMemory der = crypto.secrets().allocate(length);
            try (Loan loan = der.lend()) {
                int written = lib.i2d_PKCS8_PRIV_KEY_INFO(pkcs8.pointer(), new PointerByReference(loan.pointer()));
                crypto.check("i2d_PKCS8_PRIV_KEY_INFO", written == length ? 1 : 0);
                return der;
            } catch (KeyException e) {
                der.close();
                throw e;
            }
        }
    }

    /** Returns the signature as an ECDSA-Sig-Value in DER (RFC 3279, section 2.2.3). */
    byte[] sign(Native key, byte[] message) throws KeyException {
        try (Native context = digest()) {
            crypto.check(
                    "EVP_DigestSignInit_ex",
                    lib.EVP_DigestSignInit_ex(context.pointer(), null, DIGEST, null, null, key.pointer(), null));
            byte[] signature = new byte[SIGNATURE];
            NativeLongByReference length = new NativeLongByReference(SIGNATURE);
            crypto.check(
                    "EVP_DigestSign",
                    lib.EVP_DigestSign(context.pointer(), signature, length, message, message.length));
            return Arrays.copyOf(signature, length.intValue());
        }
    }

    /** Returns whether the key of this point signed the message; bytes that are no signature never verify. */
    boolean verifies(byte[] point, byte[] message, byte[] signature) throws KeyException {
        try (Native key = publicKey(point);
                Native context = digest()) {
            crypto.check(
                    "EVP_DigestVerifyInit_ex",
                    lib.EVP_DigestVerifyInit_ex(context.pointer(), null, DIGEST, null, null, key.pointer(), null));
            int result = lib.EVP_DigestVerify(context.pointer(), signature, signature.length, message, message.length);
            if (result != 1) {
                crypto.forgetErrors();
            }
            return result == 1;
        }
    }

    private Native publicKey(byte[] point) throws KeyException {
        try {
            return crypto.importKey(
                    PUBLIC_KEY,
                    new OsslParameters(crypto.runtime())
                            .text("group", CURVE)
                            .octets("pub", crypto.publicBytes(point), point.length));
        } catch (KeyException.CallFailed e) {
            throw new KeyException.Malformed("public key", "a point of " + CURVE, "none of it");
        }
    }

    private Native digest() throws KeyException {
        return crypto.own("EVP_MD_CTX_new", lib.EVP_MD_CTX_new(), lib::EVP_MD_CTX_free);
    }
}
