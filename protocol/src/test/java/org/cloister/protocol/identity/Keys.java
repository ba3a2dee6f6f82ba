package org.cloister.protocol.identity;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.List;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;

/** Keys and small steps that several tests take. */
final class Keys {
    private Keys() {}

    static KeyPair pair(Curve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static SigningKey signing(Curve curve) throws IOException {
        return SigningKey.of(pair(curve));
    }

    static SubjectKey subject(SigningKey key) {
        return SubjectKey.of(key.verificationKey());
    }

    static Owners.Owner owner(String id, SigningKey key) {
        return new Owners.Owner(id, key.verificationKey());
    }

    static byte[] sign(String type, byte[] payload, List<SigningKey> keys) throws GeneralSecurityException {
        Envelope envelope = Envelope.sign(type, payload, keys.get(0));
        for (SigningKey key : keys.subList(1, keys.size())) {
            envelope = envelope.countersign(key);
        }
        return envelope.bytes();
    }
}
