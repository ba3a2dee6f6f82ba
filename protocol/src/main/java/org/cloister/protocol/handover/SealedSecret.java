package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;

/** Secret sealed to one VM (luks-keyops/FORMAT.md, section 1): enc, ciphertext and tag. It never holds plaintext. */
public record SealedSecret(ByteString bytes) {
    private static final int ENC = 97;
    private static final int TAG = 16;
    private static final int LEAST_MUNGE = 32;
    private static final int MOST_MUNGE = 1024;
    private static final int DRIVE = 64;

    /**
     * Wraps a sealed munge key.
     *
     * @throws IllegalArgumentException if its length is not possible for a munge key
     */
    public static SealedSecret munge(ByteString sealed) {
        HandoverChecks.within("sealed munge key", sealed.size(), ENC + LEAST_MUNGE + TAG, ENC + MOST_MUNGE + TAG);
        return new SealedSecret(sealed);
    }

    /**
     * Wraps a sealed drive key.
     *
     * @throws IllegalArgumentException if its length is not that of a drive's key
     */
    public static SealedSecret drive(ByteString sealed) {
        HandoverChecks.within("sealed drive key", sealed.size(), ENC + DRIVE + TAG, ENC + DRIVE + TAG);
        return new SealedSecret(sealed);
    }
}
