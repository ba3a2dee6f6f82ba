package org.cloister.ovs.ovsdb;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.cloister.ovs.io.OvsException.Malformed;
import org.jspecify.annotations.Nullable;

/**
 * Monitored columns of a row. An accessor fails on the wrong type, which means that the server's schema is unknown
 * here.
 */
public record OvsdbRow(UUID uuid, Map<String, OvsdbDatum> columns) {
    public OvsdbRow {
        columns = Map.copyOf(columns);
    }

    /** Returns the only string, or the empty one for an empty optional column. */
    public String text(String column) throws Malformed {
        Object atom = single(column);
        if (atom == null) {
            return "";
        }
        if (atom instanceof String text) {
            return text;
        }
        throw wrong(column, "a string");
    }

    public OptionalLong number(String column) throws Malformed {
        Object atom = single(column);
        if (atom == null) {
            return OptionalLong.empty();
        }
        if (atom instanceof Long number) {
            return OptionalLong.of(number);
        }
        throw wrong(column, "an integer");
    }

    public Set<UUID> references(String column) throws Malformed {
        Set<UUID> references = new HashSet<>();
        if (datum(column) instanceof OvsdbDatum.Atoms set) {
            for (Object atom : set.atoms()) {
                if (!(atom instanceof UUID uuid)) {
                    throw wrong(column, "uuids");
                }
                references.add(uuid);
            }
            return references;
        }
        throw wrong(column, "a set");
    }

    /** Returns a map of strings. */
    public Map<String, String> labels(String column) throws Malformed {
        OvsdbDatum datum = datum(column);
        if (datum.equals(OvsdbDatum.EMPTY)) {
            return Map.of();
        }
        if (!(datum instanceof OvsdbDatum.Pairs pairs)) {
            throw wrong(column, "a map");
        }
        Map<String, String> labels = new HashMap<>();
        for (Map.Entry<Object, Object> pair : pairs.pairs().entrySet()) {
            if (!(pair.getKey() instanceof String key) || !(pair.getValue() instanceof String value)) {
                throw wrong(column, "a map of strings");
            }
            labels.put(key, value);
        }
        return labels;
    }

    private @Nullable Object single(String column) throws Malformed {
        if (datum(column) instanceof OvsdbDatum.Atoms set && set.atoms().size() <= 1) {
            return set.atoms().isEmpty() ? null : set.atoms().iterator().next();
        }
        throw wrong(column, "at most one value");
    }

    private OvsdbDatum datum(String column) throws Malformed {
        OvsdbDatum datum = columns.get(column);
        if (datum == null) {
            throw new Malformed("OVSDB row " + uuid, "a column " + column, "columns " + columns.keySet());
        }
        return datum;
    }

    private Malformed wrong(String column, String expected) {
        return new Malformed("OVSDB row " + uuid + " column " + column, expected, String.valueOf(columns.get(column)));
    }
}
