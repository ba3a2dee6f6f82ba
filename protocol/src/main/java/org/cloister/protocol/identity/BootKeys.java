package org.cloister.protocol.identity;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * The public halves of the two key pairs that a VM makes at each boot; docs/protocol.md, section 3. The private halves are
 * the VM's: the sealing key's never leaves native memory (luks-keyops).
 *
 * @param signing signs requests and handshakes, and nothing is sealed to it
 * @param sealing is sealed to, and signs nothing
 */
public record BootKeys(VerificationKey signing, VerificationKey sealing) {
    /** @throws IllegalArgumentException if they are one key, or not of P-384 */
    public BootKeys {
        if (signing.curve() != Curve.P384 || sealing.curve() != Curve.P384 || signing.equals(sealing)) {
            throw new IllegalArgumentException("boot keys: want two keys of secp384r1, have "
                    + signing.curve().standardName() + " " + signing + " and "
                    + sealing.curve().standardName() + " " + sealing);
        }
    }

    /** @param signing and sealing SubjectPublicKeyInfo in DER, from a VM */
    public static BootKeys parse(byte[] signing, byte[] sealing) throws MalformedException {
        try {
            return new BootKeys(VerificationKey.parse(signing), VerificationKey.parse(sealing));
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** Names both: SHA-256 over the signing key's SubjectPublicKeyInfo and the sealing key's, in base32. */
    public String id() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(signing.encoded());
            return BinaryText.base32(digest.digest(sealing.encoded()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no SHA-256", e);
        }
    }
}
