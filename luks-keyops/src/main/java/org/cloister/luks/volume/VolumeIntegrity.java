package org.cloister.luks.volume;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Protection of a volume against sectors that another writer changed. */
public enum VolumeIntegrity {
    /**
     * No protection but AES-XTS. A changed sector reads as other bytes; a sector restored to an earlier state reads as
     * it was then.
     */
    NONE(64, null),

    /**
     * dm-integrity with HMAC-SHA-256 over each sector and its number: a changed or moved sector is a read error. A
     * sector restored together with its tag still reads as it was. Creation needs device-mapper, and writes the whole
     * device.
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

    /** Returns the length in bytes: 64 for XTS with AES-256, and 32 more for the HMAC. */
    public int volumeKeyLength() {
        return volumeKeyLength;
    }

    @Nullable
    String specification() {
        return specification;
    }
}
