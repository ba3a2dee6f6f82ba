package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * Reads or creates a host's or relay's private key in a file that only root can read. It has no passphrase, because a
 * daemon starts unattended.
 */
final class MachineKeyFile {
    private MachineKeyFile() {}

    static SigningKey openOrCreate(Path file) throws IOException {
        try {
            return Files.exists(file) ? open(file) : make(file);
        } catch (GeneralSecurityException e) {
            throw new MalformedException(file + ": want a private key of P-256 in PKCS#8, have another", e);
        }
    }

    private static SigningKey open(Path file) throws IOException, GeneralSecurityException {
        byte[] pkcs8 = Pem.read(file, Pem.PRIVATE_KEY);
        try {
            PrivateKey key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            VerificationKey half = VerificationKey.parse(Pem.read(file, Pem.PUBLIC_KEY));
            return SigningKey.of(new KeyPair(half.publicKey(), key));
        } finally {
            Arrays.fill(pkcs8, (byte) 0);
        }
    }

    private static SigningKey make(Path file) throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(SignatureCurve.P256.standardName()));
        KeyPair pair = generator.generateKeyPair();
        byte[] pkcs8 = pair.getPrivate().getEncoded();
        byte[] first = Pem.write(Pem.PRIVATE_KEY, pkcs8);
        byte[] second = Pem.write(Pem.PUBLIC_KEY, pair.getPublic().getEncoded());
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        try {
            AtomicFile.create(file, both);
        } finally {
            Arrays.fill(pkcs8, (byte) 0);
            Arrays.fill(first, (byte) 0);
            Arrays.fill(both, (byte) 0);
        }
        return SigningKey.of(pair);
    }
}
