package org.cloister.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * One JSON object, read with limits: no duplicate key, nothing after it, and every key either asked for or refused.
 * Each accessor's {@link MalformedException} names the path of the value, as in {@code layers[1].rootHash}.
 */
final class StrictJson {
    private static final int MAX_DEPTH = 8;
    private static final int MAX_STRING = 16 * 1024;
    private static final int MAX_QUOTED = 80;

    private final String path;
    private final JsonNode object;
    private final Set<String> asked = new TreeSet<>();

    private StrictJson(String path, JsonNode object) {
        this.path = path;
        this.object = object;
    }

    /** @param maxBytes a longer document is refused unread */
    static StrictJson read(byte[] document, int maxBytes) throws MalformedException {
        if (document.length > maxBytes) {
            throw new MalformedException("want at most " + maxBytes + " bytes, have more");
        }
        JsonFactory factory = JsonFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .maxStringLength(MAX_STRING)
                        .build())
                .build();
        ObjectReader reader =
                JsonMapper.builder(factory).build().reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        try {
            return new StrictJson("", requireObject("document", reader.readTree(document)));
        } catch (MismatchedInputException e) {
            throw new MalformedException("not a JSON document: something follows its end", e);
        } catch (JsonProcessingException e) {
            throw new MalformedException("not a JSON document: " + e.getOriginalMessage(), e);
        } catch (MalformedException e) {
            throw e;
        } catch (IOException e) {
            throw new MalformedException("not a JSON document: " + e.getMessage(), e);
        }
    }

    String text(String key) throws MalformedException {
        JsonNode value = require(key);
        if (!value.isTextual()) {
            throw new MalformedException(path + key + ": want a string, have " + value);
        }
        return value.textValue();
    }

    String text(String key, Pattern want) throws MalformedException {
        String text = text(key);
        if (!want.matcher(text).matches()) {
            throw new MalformedException(path + key + ": want " + want + ", have " + quoted(text));
        }
        return text;
    }

    long number(String key, long min, long max) throws MalformedException {
        JsonNode value = require(key);
        if (!value.isIntegralNumber()
                || !value.canConvertToLong()
                || value.longValue() < min
                || value.longValue() > max) {
            throw new MalformedException(
                    path + key + ": want an integer from " + min + " to " + max + ", have " + value);
        }
        return value.longValue();
    }

    Digest digest(String key, Digest.Algorithm algorithm) throws MalformedException {
        try {
            return new Digest(algorithm, text(key));
        } catch (IllegalArgumentException e) {
            throw new MalformedException(path + key + ": " + e.getMessage(), e);
        }
    }

    StrictJson object(String key) throws MalformedException {
        return new StrictJson(path + key + ".", requireObject(path + key, require(key)));
    }

    List<StrictJson> objects(String key, int max) throws MalformedException {
        JsonNode array = require(key);
        if (!array.isArray()) {
            throw new MalformedException(path + key + ": want a list, have " + array.getNodeType());
        }
        if (array.isEmpty() || array.size() > max) {
            throw new MalformedException(
                    path + key + ": want a list of 1 to " + max + " objects, have " + array.size());
        }
        List<StrictJson> objects = new ArrayList<>();
        for (int i = 0; i < array.size(); i++) {
            String place = path + key + "[" + i + "]";
            objects.add(new StrictJson(place + ".", requireObject(place, array.get(i))));
        }
        return objects;
    }

    /** Refuses what nobody asked for; call it last. */
    void requireNothingElse() throws MalformedException {
        for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            if (!asked.contains(name)) {
                throw new MalformedException(path + name + ": unknown key; known: " + String.join(", ", asked));
            }
        }
    }

    /** As JSON writes it, so that no control character reaches a terminal, and not more of it than helps. */
    static String quoted(String text) {
        String head = text.length() <= MAX_QUOTED ? text : text.substring(0, MAX_QUOTED) + "...";
        return TextNode.valueOf(head).toString();
    }

    private JsonNode require(String key) throws MalformedException {
        asked.add(key);
        JsonNode value = object.get(key);
        if (value == null) {
            throw new MalformedException(path + key + ": missing");
        }
        return value;
    }

    private static JsonNode requireObject(String place, JsonNode value) throws MalformedException {
        if (!value.isObject()) {
            throw new MalformedException(place + ": want an object, have " + value.getNodeType());
        }
        return value;
    }
}
