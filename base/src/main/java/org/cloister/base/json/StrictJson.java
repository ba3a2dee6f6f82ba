package org.cloister.base.json;

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
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;

/**
 * Reader of one JSON object, with limits: UTF-8, no duplicate key, nothing after it, and every key either requested or
 * refused. Each accessor's {@link MalformedException} names the path of the value, as in {@code layers[1].rootHash}.
 * The format decides how unrequested keys are treated: {@link #requireNothingElse} or {@link #requireNothingCritical}.
 */
public final class StrictJson {
    private static final String CRITICAL = "critical";
    private static final int MAX_CRITICAL = 16;
    private static final int MAX_DEPTH = 8;
    private static final int MAX_STRING = 16 * 1024;
    private static final int MAX_QUOTED = 80;
    private static final Pattern MEMBER = Pattern.compile("[A-Za-z][A-Za-z0-9]{0,63}");
    private static final Pattern TIME = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z");

    private final String path;
    private final JsonNode object;
    private final Set<String> knownKeys = new TreeSet<>();

    private StrictJson(String path, JsonNode object) {
        this.path = path;
        this.object = object;
    }

    /**
     * Reads a document.
     *
     * @param maxBytes a longer document is refused unread
     */
    public static StrictJson read(byte[] document, int maxBytes) throws MalformedException {
        return read(document, maxBytes, MAX_STRING);
    }

    /**
     * Reads a document.
     *
     * @param maxString characters of the longest value; for documents that carry others in base64
     */
    public static StrictJson read(byte[] document, int maxBytes, int maxString) throws MalformedException {
        if (document.length > maxBytes) {
            throw new MalformedException("want at most " + maxBytes + " bytes, have more");
        }
        JsonFactory factory = JsonFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .maxStringLength(maxString)
                        .build())
                .build();
        ObjectReader reader =
                JsonMapper.builder(factory).build().reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        try {
            return new StrictJson("", requireObject("document", reader.readTree(utf8(document))));
        } catch (MismatchedInputException e) {
            throw new MalformedException("not a JSON document: something follows its end", e);
        } catch (JsonProcessingException e) {
            throw new MalformedException("not a JSON document: " + e.getOriginalMessage(), e);
        }
    }

    public String text(String key) throws MalformedException {
        JsonNode value = require(key);
        if (!value.isTextual()) {
            throw new MalformedException(path + key + ": want a string, have " + quoted(value));
        }
        return requireCharacters(path + key, value.textValue());
    }

    public String text(String key, Pattern want) throws MalformedException {
        String text = text(key);
        if (!want.matcher(text).matches()) {
            throw new MalformedException(path + key + ": want " + want + ", have " + quoted(text));
        }
        return text;
    }

    public long number(String key, long min, long max) throws MalformedException {
        JsonNode value = require(key);
        if (!value.isIntegralNumber()
                || !value.canConvertToLong()
                || value.longValue() < min
                || value.longValue() > max) {
            throw new MalformedException(
                    path + key + ": want an integer from " + min + " to " + max + ", have " + quoted(value));
        }
        return value.longValue();
    }

    /** Returns whether the key is present, and marks it as requested; for keys that may be missing. */
    public boolean has(String key) {
        knownKeys.add(key);
        return object.has(key);
    }

    public boolean flag(String key) throws MalformedException {
        JsonNode value = require(key);
        if (!value.isBoolean()) {
            throw new MalformedException(path + key + ": want true or false, have " + quoted(value));
        }
        return value.booleanValue();
    }

    /**
     * Returns a value in base64, decoded.
     *
     * @param max bytes
     */
    public byte[] base64(String key, int max) throws MalformedException {
        try {
            return BinaryText.fromBase64(text(key), max);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(path + key + ": " + e.getMessage(), e);
        }
    }

    /** Returns a value in the standard or the URL-safe alphabet, both with padding, decoded; DSSE permits both. */
    public byte[] base64InEitherAlphabet(String key, int max) throws MalformedException {
        String text = text(key);
        boolean standard = text.indexOf('+') >= 0 || text.indexOf('/') >= 0;
        try {
            return BinaryText.fromBase64(
                    standard ? text : text.replace('-', '+').replace('_', '/'), max);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(path + key + ": " + e.getMessage(), e);
        }
    }

    /** Returns a time of RFC 3339 with {@code Z} and whole seconds, as signed objects write times. */
    public Instant time(String key) throws MalformedException {
        String text = text(key, TIME);
        try {
            Instant time = Instant.parse(text);
            // The runtime also accepts 24:00:00 and leap seconds.
            if (time.toString().equals(text)) {
                return time;
            }
        } catch (DateTimeParseException e) {
            throw new MalformedException(path + key + ": want a time of the calendar, have " + quoted(text), e);
        }
        throw new MalformedException(path + key + ": want a time of the calendar, have " + quoted(text));
    }

    /** Returns the same error with the path of the key's value. */
    public MalformedException at(String key, MalformedException e) {
        return new MalformedException(path + key + ": " + e.getMessage(), e);
    }

    /** Requires that the document has this format under {@code format}. */
    public void requireFormat(String format) throws MalformedException {
        String have = text("format");
        if (!have.equals(format)) {
            throw new MalformedException(path + "format: want " + format + ", have " + quoted(have));
        }
    }

    public Digest digest(String key, Digest.Algorithm algorithm) throws MalformedException {
        try {
            return new Digest(algorithm, text(key));
        } catch (IllegalArgumentException e) {
            throw new MalformedException(path + key + ": " + e.getMessage(), e);
        }
    }

    public StrictJson object(String key) throws MalformedException {
        return new StrictJson(path + key + ".", requireObject(path + key, require(key)));
    }

    /**
     * Returns a list of strings.
     *
     * @return 1 to {@code max} of them, each of the pattern, none twice, in the document's order
     */
    public List<String> texts(String key, int max, Pattern want) throws MalformedException {
        List<String> texts = new ArrayList<>();
        for (JsonNode value : requireArray(key, max, "strings")) {
            String keyPath = path + key + "[" + texts.size() + "]";
            if (!value.isTextual() || !want.matcher(value.textValue()).matches()) {
                throw new MalformedException(keyPath + ": want " + want + ", have " + quoted(value));
            }
            if (texts.contains(value.textValue())) {
                throw new MalformedException(keyPath + ": want each once, have " + quoted(value) + " again");
            }
            texts.add(value.textValue());
        }
        return texts;
    }

    /**
     * Returns a list of ascending integers.
     *
     * @return 1 to {@code count} of them, each of the range and higher than the one before
     */
    public List<Integer> ascending(String key, int count, int min, int max) throws MalformedException {
        List<Integer> numbers = new ArrayList<>();
        int least = min;
        for (JsonNode value : requireArray(key, count, "numbers")) {
            if (!value.isIntegralNumber()
                    || !value.canConvertToInt()
                    || value.intValue() < least
                    || value.intValue() > max) {
                throw new MalformedException(path + key + "[" + numbers.size() + "]: want an integer from " + least
                        + " to " + max + ", have " + quoted(value));
            }
            numbers.add(value.intValue());
            least = value.intValue() + 1;
        }
        return numbers;
    }

    /**
     * Returns an object whose members the format leaves open, in the document's order.
     *
     * @return at most {@code max}: a {@code String} of the pattern or a {@code Long} each
     */
    public Map<String, Object> scalars(String key, int max, Pattern want) throws MalformedException {
        JsonNode object = requireObject(path + key, require(key));
        if (object.size() > max) {
            throw new MalformedException(path + key + ": want at most " + max + " members, have " + object.size());
        }
        Map<String, Object> scalars = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> each : object.properties()) {
            String keyPath = path + key + "." + StrictJson.quoted(each.getKey());
            JsonNode value = each.getValue();
            if (!MEMBER.matcher(each.getKey()).matches()) {
                throw new MalformedException(keyPath + ": want a name of " + MEMBER);
            }
            if (value.isTextual() && want.matcher(value.textValue()).matches()) {
                scalars.put(each.getKey(), value.textValue());
            } else if (value.isIntegralNumber() && value.canConvertToLong()) {
                scalars.put(each.getKey(), value.longValue());
            } else {
                throw new MalformedException(keyPath + ": want an integer or " + want + ", have " + quoted(value));
            }
        }
        return scalars;
    }

    public List<StrictJson> objects(String key, int max) throws MalformedException {
        JsonNode array = requireArray(key, max, "objects");
        List<StrictJson> objects = new ArrayList<>();
        for (int i = 0; i < array.size(); i++) {
            String keyPath = path + key + "[" + i + "]";
            objects.add(new StrictJson(keyPath + ".", requireObject(keyPath, array.get(i))));
        }
        return objects;
    }

    /** Refuses keys that were not requested; must be called last. */
    public void requireNothingElse() throws MalformedException {
        for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            if (!knownKeys.contains(name)) {
                throw new MalformedException(path + name + ": unknown key; known: " + String.join(", ", knownKeys));
            }
        }
    }

    /**
     * Ignores keys that were not requested, unless the object's {@code critical} names them (docs/protocol.md, section
     * 2); must be called last.
     */
    public void requireNothingCritical() throws MalformedException {
        if (!object.has(CRITICAL)) {
            return;
        }
        for (String name : texts(CRITICAL, MAX_CRITICAL, MEMBER)) {
            if (!object.has(name)) {
                throw new MalformedException(path + CRITICAL + ": names " + quoted(name) + ", which is not there");
            }
            if (!knownKeys.contains(name)) {
                throw new MalformedException(
                        path + name + ": critical, and unknown to this version; take a version that knows it");
            }
        }
    }

    /** Returns the text as a JSON string, so that no control character reaches a terminal, cut to 80 characters. */
    public static String quoted(String text) {
        String head = text.length() <= MAX_QUOTED ? text : text.substring(0, MAX_QUOTED) + "...";
        return literal(head);
    }

    /** Returns the text as a JSON string. */
    public static String literal(String text) {
        return TextNode.valueOf(text).toString();
    }

    private static String quoted(JsonNode value) {
        String text = value.toString();
        return text.length() <= MAX_QUOTED ? text : text.substring(0, MAX_QUOTED) + "...";
    }

    private JsonNode requireArray(String key, int max, String kind) throws MalformedException {
        JsonNode array = require(key);
        if (!array.isArray()) {
            throw new MalformedException(path + key + ": want a list, have " + array.getNodeType());
        }
        if (array.isEmpty() || array.size() > max) {
            throw new MalformedException(
                    path + key + ": want a list of 1 to " + max + " " + kind + ", have " + array.size());
        }
        return array;
    }

    private JsonNode require(String key) throws MalformedException {
        knownKeys.add(key);
        JsonNode value = object.get(key);
        if (value == null) {
            throw new MalformedException(path + key + ": missing");
        }
        return value;
    }

    private static JsonNode requireObject(String keyPath, JsonNode value) throws MalformedException {
        if (!value.isObject()) {
            throw new MalformedException(keyPath + ": want an object, have " + value.getNodeType());
        }
        return value;
    }

    /** Rejects unpaired surrogates: an escape may name half of a pair, which UTF-8 cannot encode. */
    private static String requireCharacters(String keyPath, String text) throws MalformedException {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isHighSurrogate(text.charAt(i))
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(text.charAt(i))) {
                throw new MalformedException(keyPath + ": want characters, have half of one: " + quoted(text));
            }
        }
        return text;
    }

    /** Decodes strictly: the JSON reader would guess other encodings, and accept bytes that are not UTF-8. */
    private static String utf8(byte[] document) throws MalformedException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(document))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new MalformedException("not a JSON document: not UTF-8", e);
        }
    }
}
