package org.cloister.protocol.dsse;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.Signature;
import org.cloister.base.encoding.MalformedException;

/** Signs with a private key, wherever the key is stored: in the heap, on a token or in another process. */
public interface SigningKey {
    VerificationKey verificationKey();

    /**
     * Signs a message.
     *
     * @return the signature in DER, by the algorithm of the key's curve
     */
    byte[] sign(byte[] message) throws GeneralSecurityException;

    /**
     * Returns a key that signs with the runtime's own cryptography, or with the provider to which the private key
     * belongs.
     */
    static SigningKey of(KeyPair pair) throws MalformedException {
        VerificationKey verifier = VerificationKey.of(pair.getPublic());
        PrivateKey key = pair.getPrivate();
        return new SigningKey() {
            @Override
            public VerificationKey verificationKey() {
                return verifier;
            }

            @Override
            public byte[] sign(byte[] message) throws GeneralSecurityException {
                Signature signer = Signature.getInstance(verifier.curve().signature());
                signer.initSign(key);
                signer.update(message);
                return signer.sign();
            }
        };
    }
}
