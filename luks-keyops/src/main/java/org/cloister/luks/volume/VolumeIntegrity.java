package org.cloister.luks.volume;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a volume does about sectors that somebody else changed. */
public enum VolumeIntegrity {
    /** Nothing: AES-XTS alone. A changed sector reads as other bytes, a sector put back as it was reads as it was. */
    NONE(64, null),

    /**
     * dm-integrity with HMAC-SHA-256 over each sector and its number: a changed or moved sector is a read error. A sector put
     * back together with its tag still reads as it was. Needs device-mapper to create, and writes the whole device then.
     */
    HMAC_SHA256(96, "hmac(sha256)");

    static final List<Integer> VOLUME_KEY_LENGTHS =
            Stream.of(values()).map(VolumeIntegrity::volumeKeyLength).toList();

    private final int volumeKeyLength;
    private final @Nullable String specification;

    VolumeIntegrity(int volumeKeyLength, @Nullable String specification) {
        this.volumeKeyLength = volumeKeyLength;
        this.specification = specification;
    }

    /** In bytes: 64 for XTS with AES-256, and 32 for the HMAC. */
    public int volumeKeyLength() {
        return volumeKeyLength;
    }

    @Nullable
    String specification() {
        return specification;
    }
}
