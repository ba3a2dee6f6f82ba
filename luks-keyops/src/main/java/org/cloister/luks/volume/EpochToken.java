package org.cloister.luks.volume;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.OptionalLong;

/**
 * Format of the drive's epoch as a token in a header: <pre>{"type":"cloister-epoch","keyslots":[],"epoch":"7"}</pre>
 * The token has exactly these members; the number is text, as all 64-bit numbers of LUKS2 are.
 */
final class EpochToken {
    private static final String TYPE = "cloister-epoch";
    private static final String NUMBER = "[1-9][0-9]{0,17}";
    private static final ObjectMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private EpochToken() {}

    static String json(long epoch) {
        return "{\"type\":\"" + TYPE + "\",\"keyslots\":[],\"epoch\":\"" + epoch + "\"}";
    }

    /** Returns whether a token has the type of an epoch token; {@link #parse} may still reject it. */
    static boolean isOne(String json) {
        return TYPE.equals(read(json).path("type").asText());
    }

    static OptionalLong parse(String json) {
        JsonNode token = read(json);
        JsonNode slots = token.path("keyslots");
        JsonNode epoch = token.path("epoch");
        boolean taken = token.size() == 3
                && isOne(json)
                && slots.isArray()
                && slots.isEmpty()
                && epoch.isTextual()
                && epoch.textValue().matches(NUMBER);
        return taken ? OptionalLong.of(Long.parseLong(epoch.textValue())) : OptionalLong.empty();
    }

    private static JsonNode read(String json) {
        try {
            return JSON.readTree(json);
        } catch (JacksonException e) {
            return JSON.missingNode();
        }
    }
}
