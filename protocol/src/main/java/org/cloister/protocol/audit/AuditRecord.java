package org.cloister.protocol.audit;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Record of the chain, on reading; names of kinds and facts may be newer than this version.
 *
 * @param number from 1, without a gap
 * @param event id in the relay's outbox; 0 for an event that comes from no outbox
 * @param key id of the key that authorised the event, if a key did
 * @param facts each value is a {@code String} or a {@code Long}, in the line's order
 */
public record AuditRecord(
        long number, Instant time, String kind, long event, Optional<String> key, Map<String, Object> facts)
        implements AuditLine {
    /** Bytes of a line of any type, without its line feed. */
    public static final int MAX_LINE = 8 * 1024;

    public static final int MAX_FACTS = 24;
    public static final int MAX_TEXT = 256;
    static final long MAX_NUMBER = (1L << 53) - 1;
    static final Pattern KIND = Pattern.compile("[a-z]+(\\.[a-z-]+){0,3}");
    static final Pattern KEY = Pattern.compile("[a-z2-7]{52}");
    static final Pattern TEXT = Pattern.compile("[ -~]{1," + MAX_TEXT + "}");

    private static final int MAX_KIND = 64;

    public AuditRecord {
        facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
    }

    public static AuditRecord of(long number, AuditEvent event) {
        return new AuditRecord(number, event.time(), event.kind(), event.event(), event.key(), named(event.facts()));
    }

    /**
     * Parses a record.
     *
     * @throws MalformedException also if the line differs from what {@link #line} would write
     */
    static AuditRecord parse(byte[] line) throws MalformedException {
        StrictJson json = StrictJson.read(line, MAX_LINE);
        AuditRecord read = new AuditRecord(
                json.number("number", 1, MAX_NUMBER),
                json.time("time"),
                json.text("kind", KIND),
                json.has("event") ? json.number("event", 1, MAX_NUMBER) : 0,
                json.has("key") ? Optional.of(json.text("key", KEY)) : Optional.empty(),
                json.scalars("facts", MAX_FACTS, TEXT));
        json.requireNothingElse();
        if (!isKind(read.kind)) {
            throw new MalformedException("kind: want at most " + MAX_KIND + " characters, have " + read.kind.length());
        }
        AuditLine.requireSame(read.line(), line);
        return read;
    }

    /** Returns the bytes that are hashed. */
    public byte[] line() {
        return json(number, time, kind, event, key, facts).toString().getBytes(StandardCharsets.UTF_8);
    }

    static boolean isKind(String kind) {
        return kind.length() <= MAX_KIND && KIND.matcher(kind).matches();
    }

    static Map<String, Object> named(Map<AuditField, Object> facts) {
        Map<String, Object> named = new LinkedHashMap<>();
        facts.forEach((fact, value) -> named.put(fact.member(), value));
        return named;
    }

    static ObjectNode json(
            long number, Instant time, String kind, long event, Optional<String> key, Map<String, Object> facts) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        if (number > 0) {
            json.put("number", number);
        }
        json.put("time", time.toString()).put("kind", kind);
        if (event > 0) {
            json.put("event", event);
        }
        key.ifPresent(id -> json.put("key", id));
        ObjectNode object = json.putObject("facts");
        facts.forEach((name, value) -> {
            if (value instanceof Long number64) {
                object.put(name, number64);
            } else {
                object.put(name, value.toString());
            }
        });
        return json;
    }
}
