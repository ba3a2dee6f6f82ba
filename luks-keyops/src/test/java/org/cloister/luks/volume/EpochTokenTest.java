package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EpochTokenTest {
    @Test
    void reads_what_it_wrote() {
        for (long epoch : new long[] {1, 9, 10, 999_999_999_999_999_999L}) {
            assertThat(EpochToken.parse(EpochToken.json(epoch))).hasValue(epoch);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "7",
                "[]",
                "{}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[]}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":7}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"0\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"07\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"-7\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"7\\n\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"1000000000000000000\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[\"0\"],\"epoch\":\"7\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":{},\"epoch\":\"7\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"7\",\"more\":1}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"7\",\"epoch\":\"8\"}",
                "{\"type\":\"cloister-epoch\",\"keyslots\":[],\"epoch\":\"7\"}{}",
                "{\"type\":\"other\",\"keyslots\":[],\"epoch\":\"7\"}",
            })
    void takes_nothing_else(String json) {
        assertThat(EpochToken.parse(json)).isEmpty();
    }
}
