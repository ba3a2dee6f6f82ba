package org.cloister.luks.volume;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/** Any token on a disk gives an epoch that can be written and read again, or none, and nothing is thrown. */
class EpochTokenFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_tokens(byte[] bytes) {
        OptionalLong epoch = EpochToken.parse(new String(bytes, StandardCharsets.UTF_8));
        if (epoch.isPresent()
                && !EpochToken.parse(EpochToken.json(epoch.getAsLong())).equals(epoch)) {
            throw new IllegalStateException("epoch " + epoch);
        }
    }

    @FuzzTest(maxDuration = "60s")
    void reads_headers(byte[] bytes) {
        if (LuksHeaderProbe.wanted(bytes) < 2 * 0x4000) {
            throw new IllegalStateException("a header of " + LuksHeaderProbe.wanted(bytes) + " bytes");
        }
    }
}
