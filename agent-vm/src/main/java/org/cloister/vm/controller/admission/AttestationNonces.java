package org.cloister.vm.controller.admission;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Nonce;

/**
 * Computes the attestation nonce for a ticket, slot and boot key. It is the same for one boot of the controlling VM,
 * and unpredictable before it is sent. It is derived from a secret of the boot, so no state is kept per worker,
 * regardless of their number.
 */
final class AttestationNonces {
    private static final String HMAC = "HmacSHA256";
    private static final byte[] LABEL = "cloister evidence question v1\0".getBytes(StandardCharsets.US_ASCII);

    private final SecretKeySpec secret;

    AttestationNonces(SecureRandom random) {
        byte[] bytes = new byte[Nonce.BYTES];
        random.nextBytes(bytes);
        this.secret = new SecretKeySpec(bytes, HMAC);
    }

    Nonce of(String ticket, int slot, VerificationKey key) {
        byte[] id = ticket.getBytes(StandardCharsets.US_ASCII);
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(secret);
            mac.update(LABEL);
            mac.update(ByteBuffer.allocate(2 * Integer.BYTES)
                    .putInt(id.length)
                    .putInt(slot)
                    .array());
            mac.update(id);
            return new Nonce(BinaryText.base64(mac.doFinal(key.encoded())));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + HMAC, e);
        }
    }
}
