package org.cloister.protocol.evidence;

import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Public halves of the two key pairs that a VM generates in memory at each boot; the private halves never leave the VM.
 *
 * @param signing ECDSA P-384; also the key of the VM's end of the circuit
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
