package org.cloister.luks.volume;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * JSON metadata of a LUKS2 header as one flat, immutable map: path to value as JSON text, such as
 * {@code segments.0.encryption} to {@code "aes-xts-plain64"}. Tokens are left out: they describe nothing that is
 * mapped.
 *
 * @param values an empty object is {@code {}}, an empty array {@code []}
 */
record LuksHeaderFields(Map<String, String> values) {
    /**
     * Maximum length: the 60 KiB of a header that {@link VolumeCreation} makes, with the blanks that libcryptsetup
     * adds.
     */
    static final int MAX_TEXT = 512 << 10;

    /** Maximum number of fields; 32 key slots have 16 fields each. */
    static final int MAX_FIELDS = 1024;

    private static final int MAX_DEPTH = 6;
    private static final int MAX_VALUE = 256;
    private static final String NAME = "[a-z0-9_-]{1,32}";
    private static final String LEFT_OUT = "tokens";
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(64)
                    .maxDocumentLength(MAX_TEXT)
                    .build())
            .build();

    LuksHeaderFields {
        values = Collections.unmodifiableMap(new TreeMap<>(values));
    }

    /** @throws IOException if it is not one JSON object within the limits */
    static LuksHeaderFields parse(String json) throws IOException {
        if (json.length() > MAX_TEXT) {
            throw new IOException("more than " + MAX_TEXT + " characters");
        }
        Map<String, String> values = new TreeMap<>();
        try (JsonParser parser = JSON.createParser(json)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("no JSON object");
            }
            members(parser, "", values, 1);
            if (parser.nextToken() != null) {
                throw new IOException("something after the JSON object");
            }
        } catch (JacksonException e) {
            throw new IOException("no JSON: " + LuksHeaderForm.printable(e.getOriginalMessage()), e);
        }
        return new LuksHeaderFields(values);
    }

    private static void members(JsonParser parser, String path, Map<String, String> values, int depth)
            throws IOException {
        boolean empty = true;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            empty = false;
            String name = parser.currentName();
            if (!name.matches(NAME)) {
                throw new IOException("a member " + LuksHeaderForm.printable(name));
            }
            JsonToken token = parser.nextToken();
            if (path.isEmpty() && name.equals(LEFT_OUT)) {
                parser.skipChildren();
            } else {
                value(parser, token, path.isEmpty() ? name : path + "." + name, values, depth);
            }
        }
        if (empty) {
            put(values, path, "{}");
        }
    }

    private static void elements(JsonParser parser, String path, Map<String, String> values, int depth)
            throws IOException {
        int count = 0;
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            value(parser, token, path + "[" + count + "]", values, depth);
            count++;
        }
        if (count == 0) {
            put(values, path, "[]");
        }
    }

    private static void value(JsonParser parser, JsonToken token, String path, Map<String, String> values, int depth)
            throws IOException {
        if (depth >= MAX_DEPTH) {
            throw new IOException("more than " + MAX_DEPTH + " levels at " + path);
        }
        switch (token) {
            case START_OBJECT -> members(parser, path, values, depth + 1);
            case START_ARRAY -> elements(parser, path, values, depth + 1);
            case VALUE_STRING -> put(values, path, "\"" + parser.getText() + "\"");
            default -> put(values, path, parser.getText());
        }
    }

    private static void put(Map<String, String> values, String path, String value) throws IOException {
        if (value.length() > MAX_VALUE) {
            throw new IOException("a value of " + value.length() + " characters at " + path);
        }
        if (values.size() >= MAX_FIELDS) {
            throw new IOException("more than " + MAX_FIELDS + " fields");
        }
        values.put(path, value);
    }
}
