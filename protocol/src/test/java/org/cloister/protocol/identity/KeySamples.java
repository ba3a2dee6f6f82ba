package org.cloister.protocol.identity;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.List;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;

/** Keys and small steps that several tests take. */
public final class KeySamples {
    private KeySamples() {}

    static KeyPair pair(SignatureCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    public static SigningKey signing(SignatureCurve curve) throws IOException {
        return SigningKey.of(pair(curve));
    }

    public static SubjectPublicKey subject(SigningKey key) {
        return SubjectPublicKey.of(key.verificationKey());
    }

    static ProjectOwners.Owner owner(String id, SigningKey key) {
        return new ProjectOwners.Owner(id, key.verificationKey());
    }

    static byte[] sign(String type, byte[] payload, List<SigningKey> keys) throws GeneralSecurityException {
        DsseEnvelope envelope = DsseEnvelope.sign(type, payload, keys.get(0));
        for (SigningKey key : keys.subList(1, keys.size())) {
            envelope = envelope.countersign(key);
        }
        return envelope.bytes();
    }
}
