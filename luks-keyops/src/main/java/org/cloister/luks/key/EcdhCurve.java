package org.cloister.luks.key;

import jnr.ffi.Pointer;
import jnr.ffi.byref.NativeLongByReference;
import org.cloister.luks.key.LibCryptoCalls.Native;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;

/** An elliptic curve in libcrypto: computes a scalar's point and ECDH. */
final class EcdhCurve {
    private static final int UNCOMPRESSED = 4;
    private static final int PUBLIC_KEY = 0x86;
    private static final int KEY_PAIR = 0x87;

    private final LibCryptoCalls crypto;
    private final LibCrypto lib;
    private final HpkeSuite suite;

    EcdhCurve(LibCryptoCalls crypto, HpkeSuite suite) {
        this.crypto = crypto;
        this.lib = crypto.lib();
        this.suite = suite;
    }

    /**
     * Returns the point of a scalar between 1 and the order - 1.
     *
     * @throws KeyException.Malformed when the scalar is outside that range
     */
    byte[] point(SecretMemory scalar) throws KeyException {
        try (Native group = crypto.own(
                        "EC_GROUP_new_by_curve_name",
                        lib.EC_GROUP_new_by_curve_name(lib.OBJ_txt2nid(suite.curve())),
                        lib::EC_GROUP_free);
                Native context = crypto.own("BN_CTX_secure_new", lib.BN_CTX_secure_new(), lib::BN_CTX_free);
                Native factor = number(scalar);
                Native point =
                        crypto.own("EC_POINT_new", lib.EC_POINT_new(group.pointer()), lib::EC_POINT_clear_free)) {
            if (lib.BN_is_zero(factor.pointer()) == 1
                    || lib.BN_cmp(factor.pointer(), lib.EC_GROUP_get0_order(group.pointer())) >= 0) {
                throw new KeyException.Malformed(
                        "private key", "a number from 1 to the order of " + suite.curve() + " less one", "another");
            }
            crypto.check(
                    "EC_POINT_mul",
                    lib.EC_POINT_mul(
                            group.pointer(), point.pointer(), factor.pointer(), null, null, context.pointer()));
            byte[] octets = new byte[suite.pointLength()];
            long length = lib.EC_POINT_point2oct(
                    group.pointer(), point.pointer(), UNCOMPRESSED, octets, octets.length, context.pointer());
            crypto.check("EC_POINT_point2oct", length == octets.length ? 1 : 0);
            return octets;
        }
    }

    /**
     * Writes the x coordinate of the shared point into {@code shared} from {@code at} on.
     *
     * @throws KeyException.Malformed when the peer's point is not on the curve
     */
    void agree(SecretMemory scalar, SealingPublicKey peer, SecretMemory shared, int at)
            throws KeyException, SecretException {
        try (SecretMemory reversed = littleEndian(scalar);
                Loan number = reversed.lend();
                Loan target = shared.lend();
                Native mine =
                        crypto.importKey(KEY_PAIR, parameters().number("priv", number.pointer(), number.length()));
                Native theirs = peer(peer);
                Native context = crypto.own(
                        "EVP_PKEY_CTX_new_from_pkey",
                        lib.EVP_PKEY_CTX_new_from_pkey(null, mine.pointer(), null),
                        lib::EVP_PKEY_CTX_free)) {
            crypto.check("EVP_PKEY_derive_init", lib.EVP_PKEY_derive_init(context.pointer()));
            // Checks the peer's point once more, as SP 800-56A requires.
            crypto.check("EVP_PKEY_derive_set_peer", lib.EVP_PKEY_derive_set_peer(context.pointer(), theirs.pointer()));
            NativeLongByReference length = new NativeLongByReference(suite.scalarLength());
            crypto.check(
                    "EVP_PKEY_derive",
                    lib.EVP_PKEY_derive(context.pointer(), target.pointer().slice(at), length));
            crypto.check("EVP_PKEY_derive", length.intValue() == suite.scalarLength() ? 1 : 0);
        }
    }

    private Native peer(SealingPublicKey peer) throws KeyException {
        byte[] octets = peer.bytes();
        try {
            return crypto.importKey(PUBLIC_KEY, parameters().octets("pub", crypto.publicBytes(octets), octets.length));
        } catch (KeyException.CallFailed e) {
            throw new KeyException.Malformed("public key", "a point of " + suite.curve(), "none of it");
        }
    }

    private OsslParameters parameters() {
        return new OsslParameters(crypto.runtime()).text("group", suite.curve());
    }

    private SecretMemory littleEndian(SecretMemory scalar) throws KeyException, SecretException {
        SecretMemory reversed = crypto.secrets().allocate(scalar.length());
        try (Native number = number(scalar);
                Loan target = reversed.lend()) {
            int written = lib.BN_bn2lebinpad(number.pointer(), target.pointer(), target.length());
            crypto.check("BN_bn2lebinpad", written);
            return reversed;
        } catch (KeyException e) {
            reversed.close();
            throw e;
        }
    }

    private Native number(SecretMemory scalar) throws KeyException {
        Native number = crypto.own("BN_secure_new", lib.BN_secure_new(), lib::BN_clear_free);
        try (Loan loan = scalar.lend()) {
            Pointer filled = lib.BN_bin2bn(loan.pointer(), loan.length(), number.pointer());
            crypto.check("BN_bin2bn", filled == null ? 0 : 1);
            return number;
        } catch (KeyException e) {
            number.close();
            throw e;
        }
    }
}
