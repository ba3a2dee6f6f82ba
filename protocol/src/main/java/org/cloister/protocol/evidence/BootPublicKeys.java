package org.cloister.protocol.evidence;

import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * The public halves of the two key pairs that a VM makes at each boot, in memory, and never shows the private halves of.
 *
 * @param signing ECDSA P-384; also the key of its end of the circuit
 * @param sealing ECDH P-384, to which keys are sealed; never used to verify
 */
public record BootPublicKeys(VerificationKey signing, VerificationKey sealing) {
    public BootPublicKeys {
        if (signing.curve() != SignatureCurve.P384 || sealing.curve() != SignatureCurve.P384) {
            throw new IllegalArgumentException(
                    "boot keys: want P-384 twice, have " + signing.curve() + " and " + sealing.curve());
        }
        if (signing.equals(sealing)) {
            throw new IllegalArgumentException("boot keys: want two keys, have one for both uses");
        }
    }
}
