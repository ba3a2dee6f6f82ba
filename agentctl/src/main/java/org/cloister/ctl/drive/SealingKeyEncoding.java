package org.cloister.ctl.drive;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.Pem;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Converts sealing keys between a point of P-384 and SubjectPublicKeyInfo (RFC 5480), which evidence and files contain.
 */
final class SealingKeyEncoding {
    private static final byte[] BEFORE_POINT =
            HexFormat.of().parseHex("3076301006072a8648ce3d020106052b81040022036200");

    private SealingKeyEncoding() {}

    static SealingPublicKey toSealingKey(VerificationKey key) throws IOException {
        if (key.curve() != SignatureCurve.P384) {
            throw new MalformedException("public key " + key + ": want P-384, have " + key.curve());
        }
        byte[] spki = key.encoded();
        return SealingPublicKey.of(Arrays.copyOfRange(spki, spki.length - SealingPublicKey.LENGTH, spki.length));
    }

    static VerificationKey toVerificationKey(SealingPublicKey point) throws IOException {
        ByteArrayOutputStream spki = new ByteArrayOutputStream();
        spki.writeBytes(BEFORE_POINT);
        spki.writeBytes(point.bytes());
        return VerificationKey.parse(spki.toByteArray());
    }

    static SealingPublicKey read(Path file) throws IOException {
        byte[] spki = Pem.read(file, Pem.PUBLIC_KEY);
        try {
            return toSealingKey(VerificationKey.parse(spki));
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }
}
