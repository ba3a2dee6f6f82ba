package org.cloister.luks.key;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.TreeSet;

/**
 * Strict reader of the JSON of luks-keyops/FORMAT.md: exactly the named members, once each, of the named types, within
 * limits.
 */
final class KeyFormatJson {
    /** Maximum length in bytes; a LUKS2 header has 12 KiB for all its JSON. */
    static final int MAX_DOCUMENT = 12 << 10;

    private static final int MAX_DEPTH = 4;
    private static final int MAX_NUMBER = 10;
    private static final int MAX_QUOTED = 40;

    static final ObjectMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxDocumentLength(MAX_DOCUMENT)
                            .maxNestingDepth(MAX_DEPTH)
                            .maxNumberLength(MAX_NUMBER)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final String subject;
    private final JsonNode node;

    private KeyFormatJson(String subject, JsonNode node) {
        this.subject = subject;
        this.node = node;
    }

    /** @param subject what the document is, for messages */
    static KeyFormatJson read(String subject, byte[] document) throws KeyException.Malformed {
        if (document.length > MAX_DOCUMENT) {
            throw new KeyException.Malformed(subject, "at most " + MAX_DOCUMENT + " bytes", document.length + " bytes");
        }
        try {
            return new KeyFormatJson(subject, MAPPER.readTree(document));
        } catch (JsonProcessingException e) {
            throw new KeyException.Malformed(subject, "one JSON object", shown(e.getOriginalMessage()));
        } catch (IOException e) {
            throw new KeyException.Malformed(subject, "JSON in UTF-8", "other bytes");
        }
    }

    KeyFormatJson object(String... members) throws KeyException.Malformed {
        if (!node.isObject()) {
            throw malformed("an object", node.getNodeType().toString());
        }
        TreeSet<String> expected = new TreeSet<>(List.of(members));
        TreeSet<String> actual = new TreeSet<>();
        node.fieldNames().forEachRemaining(actual::add);
        if (!expected.equals(actual)) {
            throw malformed("the members " + expected, shown(actual.toString()));
        }
        return this;
    }

    KeyFormatJson member(String name) {
        return new KeyFormatJson(subject + ", " + name, node.path(name));
    }

    List<KeyFormatJson> array(int min, int max) throws KeyException.Malformed {
        if (!node.isArray() || node.size() < min || node.size() > max) {
            throw malformed(
                    "an array of " + min + " to " + max,
                    node.isArray()
                            ? String.valueOf(node.size())
                            : node.getNodeType().toString());
        }
        List<KeyFormatJson> elements = new ArrayList<>();
        for (JsonNode element : node) {
            elements.add(new KeyFormatJson(subject, element));
        }
        return elements;
    }

    String text() throws KeyException.Malformed {
        if (!node.isTextual()) {
            throw malformed("a string", node.getNodeType().toString());
        }
        return node.textValue();
    }

    void requireText(String expected) throws KeyException.Malformed {
        if (!text().equals(expected)) {
            throw malformed(expected, shown(text()));
        }
    }

    int number() throws KeyException.Malformed {
        if (!node.isIntegralNumber() || !node.canConvertToInt()) {
            throw malformed("a whole number", shown(node.toString()));
        }
        return node.intValue();
    }

    /** Decodes base64 (RFC 4648, section 4) with padding; accepts one spelling of each value. */
    byte[] bytes(int length) throws KeyException.Malformed {
        String text = text();
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(text.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IllegalArgumentException e) {
            throw malformed("base64", "something else");
        }
        if (bytes.length != length || !Base64.getEncoder().encodeToString(bytes).equals(text)) {
            throw malformed("base64 of " + length + " bytes", "another one, of " + bytes.length);
        }
        return bytes;
    }

    KeyException.Malformed malformed(String expected, String actual) {
        return new KeyException.Malformed(subject, expected, actual);
    }

    private static String shown(String text) {
        return text.length() > MAX_QUOTED ? text.substring(0, MAX_QUOTED) + "..." : text;
    }
}
