package org.cloister.luks.key;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import org.cloister.luks.key.LibCryptoCalls.Native;
import org.cloister.luks.secret.SecretMemory;

/** A key pair of P-384 whose private key is in libcrypto, for signatures and TLS. Closing it frees the private key. */
public final class P384KeyPair implements AutoCloseable {
    private final P384Calls calls;
    private final P384PrivateKey privateKey;
    private final PublicKey publicKey;

    private P384KeyPair(P384Calls calls, P384PrivateKey privateKey, PublicKey publicKey) {
        this.calls = calls;
        this.privateKey = privateKey;
        this.publicKey = publicKey;
    }

    /** Generates a key pair; {@link P384Provider#install} must have been called before the private key is used. */
    public static P384KeyPair generate(LibCryptoCalls crypto) throws KeyException {
        return generate(new P384Calls(crypto));
    }

    static P384KeyPair generate(P384Calls calls) throws KeyException {
        Native key = calls.generate();
        P384PrivateKey privateKey = new P384PrivateKey(key);
        try {
            byte[] spki = P384Calls.spki(calls.publicPoint(key));
            return new P384KeyPair(
                    calls, privateKey, KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(spki)));
        } catch (GeneralSecurityException e) {
            privateKey.close();
            throw new IllegalStateException("this JRE has no P-384", e);
        } catch (KeyException e) {
            privateKey.close();
            throw e;
        }
    }

    /** Returns the pair for Java's cryptography. */
    public KeyPair pair() {
        return new KeyPair(publicKey, privateKey);
    }

    /** Returns a copy of the private key in PKCS#8, for another program; the caller closes it. */
    public SecretMemory pkcs8() throws IOException {
        return privateKey.use(calls::pkcs8);
    }

    @Override
    public void close() {
        privateKey.close();
    }
}
