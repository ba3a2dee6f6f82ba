package org.cloister.luks.key;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;

/** Any bytes of a file or a header give a value that is written and read again as itself, or a refusal. */
class KeyFormatFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_envelopes(byte[] bytes) {
        try {
            DriveEnvelope envelope = DriveEnvelope.read(bytes);
            byte[] written = envelope.json();
            requireSame(written, DriveEnvelope.read(written).json());
        } catch (KeyException.Malformed e) {
            requireMessage(e);
        }
    }

    @FuzzTest(maxDuration = "60s")
    void reads_key_files(byte[] bytes) {
        try {
            byte[] written = SealingKeyFile.read(bytes).json();
            requireSame(written, SealingKeyFile.read(written).json());
        } catch (KeyException.Malformed e) {
            requireMessage(e);
        }
    }

    private static void requireSame(byte[] written, byte[] again) {
        if (!Arrays.equals(written, again)) {
            throw new IllegalStateException("written and read, it is another");
        }
    }

    private static void requireMessage(KeyException.Malformed e) {
        if (e.getMessage() == null || e.getMessage().length() > 1000) {
            throw new IllegalStateException("not a message for an operator", e);
        }
    }
}
