package org.cloister.protocol.identity;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;

/** Signs with an authority's private key, ECDSA P-384 with SHA-384, wherever that key is stored. */
@FunctionalInterface
public interface CertificateSigner {
    /**
     * Signs a message.
     *
     * @return the signature in DER (RFC 3279 section 2.2.3)
     */
    byte[] sign(byte[] message) throws GeneralSecurityException;

    /** Returns a signer that uses the runtime's own cryptography; the key is then in its heap. */
    static CertificateSigner of(PrivateKey key) {
        return message -> {
            Signature signature = Signature.getInstance("SHA384withECDSA");
            signature.initSign(key);
            signature.update(message);
            return signature.sign();
        };
    }
}
