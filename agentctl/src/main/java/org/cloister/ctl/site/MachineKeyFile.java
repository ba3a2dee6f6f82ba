package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Reads or creates a host's or relay's private key in a file that only its owner can read. It has no passphrase,
 * because a daemon starts unattended.
 */
final class MachineKeyFile {
    private MachineKeyFile() {}

    /** Stores the bytes of a new key. */
    private interface KeyStore {
        void store(byte[] pem) throws IOException;
    }

    static SigningKey openOrCreate(Path file) throws IOException {
        return Files.exists(file) ? open(file) : make(pem -> AtomicFile.create(file, pem));
    }

    /**
     * Creates a key, in place of one that may be there.
     *
     * @param owner the daemon's user
     */
    static SigningKey create(Path file, UserPrincipal owner) throws IOException {
        return make(pem -> AtomicFile.replace(file, pem, owner));
    }

    static SigningKey open(Path file) throws IOException {
        try {
            return parse(file);
        } catch (GeneralSecurityException e) {
            throw new MalformedException(file + ": want a private key of P-256 in PKCS#8, have another", e);
        }
    }

    private static SigningKey parse(Path file) throws IOException, GeneralSecurityException {
        byte[] pkcs8 = Pem.read(file, Pem.PRIVATE_KEY);
        try {
            PrivateKey key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            VerificationKey half = VerificationKey.parse(Pem.read(file, Pem.PUBLIC_KEY));
            return SigningKey.of(new KeyPair(half.publicKey(), key));
        } finally {
            Arrays.fill(pkcs8, (byte) 0);
        }
    }

    private static SigningKey make(KeyStore store) throws IOException {
        KeyPair pair = generate();
        byte[] pkcs8 = pair.getPrivate().getEncoded();
        byte[] first = Pem.write(Pem.PRIVATE_KEY, pkcs8);
        byte[] second = Pem.write(Pem.PUBLIC_KEY, pair.getPublic().getEncoded());
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        try {
            store.store(both);
        } finally {
            Arrays.fill(pkcs8, (byte) 0);
            Arrays.fill(first, (byte) 0);
            Arrays.fill(both, (byte) 0);
        }
        return SigningKey.of(pair);
    }

    private static KeyPair generate() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P256.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + SignatureCurve.P256.standardName(), e);
        }
    }
}
