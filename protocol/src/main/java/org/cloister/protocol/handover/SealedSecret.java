package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;

/**
 * A secret that is sealed to one VM (luks-keyops/FORMAT.md, section 1): enc, ciphertext and tag. Nothing in the clear is ever
 * here.
 */
public record SealedSecret(ByteString bytes) {
    private static final int ENC = 97;
    private static final int TAG = 16;
    private static final int LEAST_MUNGE = 32;
    private static final int MOST_MUNGE = 1024;
    private static final int DRIVE = 64;

    /** @throws IllegalArgumentException if no munge key is as long */
    public static SealedSecret munge(ByteString sealed) {
        HandoverChecks.within("sealed munge key", sealed.size(), ENC + LEAST_MUNGE + TAG, ENC + MOST_MUNGE + TAG);
        return new SealedSecret(sealed);
    }

    /** @throws IllegalArgumentException if it has another length than a drive's key */
    public static SealedSecret drive(ByteString sealed) {
        HandoverChecks.within("sealed drive key", sealed.size(), ENC + DRIVE + TAG, ENC + DRIVE + TAG);
        return new SealedSecret(sealed);
    }
}
