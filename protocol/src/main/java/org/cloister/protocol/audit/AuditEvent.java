package org.cloister.protocol.audit;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Event to be recorded; it has no number in the chain yet.
 *
 * @param event id in the relay's outbox; 0 for an event that comes from no outbox
 * @param key id of the key that authorised the event, if a key did
 * @param facts each value is a {@code String} or a {@code Long}
 */
public record AuditEvent(long event, Instant time, String kind, Optional<String> key, Map<AuditField, Object> facts) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public AuditEvent {
        if (event < 0 || event > AuditRecord.MAX_NUMBER) {
            throw new IllegalArgumentException("event: want 0 to " + AuditRecord.MAX_NUMBER + ", have " + event);
        }
        time = time.truncatedTo(ChronoUnit.SECONDS);
        if (!AuditRecord.isKind(kind)) {
            throw new IllegalArgumentException("kind: want " + AuditRecord.KIND + ", have " + StrictJson.quoted(kind));
        }
        if (key.isPresent() && !AuditRecord.KEY.matcher(key.get()).matches()) {
            throw new IllegalArgumentException("key: want the id of a key, have " + StrictJson.quoted(key.get()));
        }
        Map<AuditField, Object> sorted = new EnumMap<>(AuditField.class);
        facts.forEach((fact, value) -> {
            fact.require(value);
            sorted.put(fact, value);
        });
        facts = Collections.unmodifiableMap(sorted);
    }

    public static AuditEvent of(Instant time, String kind) {
        return new AuditEvent(0, time, kind, Optional.empty(), Map.of());
    }

    /**
     * Returns the event with the key that authorised it.
     *
     * @param id of the key that authorised the event
     */
    public AuditEvent by(String id) {
        return new AuditEvent(event, time, kind, Optional.of(id), facts);
    }

    public AuditEvent with(AuditField fact, String value) {
        return withValue(fact, value);
    }

    public AuditEvent with(AuditField fact, long value) {
        return withValue(fact, value);
    }

    /**
     * Returns the event with its outbox id.
     *
     * @param id in the outbox
     */
    public AuditEvent numbered(long id) {
        return new AuditEvent(id, time, kind, key, facts);
    }

    /** Returns the event for an outbox, without the id that the outbox assigns. */
    public byte[] json() {
        return AuditRecord.json(0, time, kind, 0, key, AuditRecord.named(facts))
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Parses an event that an outbox stored.
     *
     * @param event id in the outbox in which {@link #json} was stored
     */
    public static AuditEvent parse(byte[] json, long event) throws MalformedException {
        StrictJson document = StrictJson.read(json, AuditRecord.MAX_LINE);
        Map<AuditField, Object> facts = new EnumMap<>(AuditField.class);
        for (Map.Entry<String, Object> each : document.scalars("facts", AuditRecord.MAX_FACTS, AuditRecord.TEXT)
                .entrySet()) {
            facts.put(
                    AuditField.of(each.getKey())
                            .orElseThrow(() -> new MalformedException(
                                    "facts." + each.getKey() + ": unknown; take a version that knows it")),
                    each.getValue());
        }
        try {
            AuditEvent read = new AuditEvent(
                    event,
                    document.time("time"),
                    document.text("kind"),
                    document.has("key") ? Optional.of(document.text("key")) : Optional.empty(),
                    facts);
            document.requireNothingElse();
            return read;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private AuditEvent withValue(AuditField fact, Object value) {
        Map<AuditField, Object> more = new EnumMap<>(AuditField.class);
        more.putAll(facts);
        more.put(fact, value);
        return new AuditEvent(event, time, kind, key, more);
    }
}
