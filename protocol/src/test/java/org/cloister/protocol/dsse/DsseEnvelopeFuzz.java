package org.cloister.protocol.dsse;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** Any bytes as an envelope or a key give a value, or a refusal that an operator can read. */
class DsseEnvelopeFuzz {
    private static final int LIMIT = 64 * 1024;

    @FuzzTest(maxDuration = "60s")
    void reads_envelopes(byte[] bytes) {
        try {
            DsseEnvelope envelope = DsseEnvelope.parse(bytes, LIMIT);
            if (!Arrays.equals(envelope.bytes(), bytes)) {
                throw new IllegalStateException("not the bytes that came");
            }
            VerificationKey unknown = UnknownKey.KEY;
            if (!envelope.signers(envelope.payloadType(), List.of(unknown)).isEmpty()) {
                throw new IllegalStateException("a key that signed nothing");
            }
        } catch (MalformedException e) {
            requireText(e);
        } catch (EnvelopeRefusedException e) {
            throw new IllegalStateException("its own type was refused", e);
        }
    }

    private static void requireText(MalformedException e) {
        if (e.getMessage() == null || e.getMessage().length() > 1000) {
            throw new IllegalStateException("not a message for an operator", e);
        }
    }

    /** A key of nobody's. */
    private static final class UnknownKey {
        static final VerificationKey KEY =
                DsseEnvelopeTest.key(SignatureCurve.P384).verificationKey();
    }
}
