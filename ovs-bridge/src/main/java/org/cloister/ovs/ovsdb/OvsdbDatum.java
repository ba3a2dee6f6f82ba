package org.cloister.ovs.ovsdb;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.cloister.ovs.io.OvsException.Malformed;

/**
 * Value of one column (RFC 7047, section 5.1). An atom is a String, Long, Double, Boolean or UUID; a scalar is a set of
 * one.
 */
public sealed interface OvsdbDatum {
    /** A set: no order, no repetition. */
    record Atoms(Set<Object> atoms) implements OvsdbDatum {
        public Atoms {
            atoms = Set.copyOf(atoms);
        }
    }

    /** A map: keys are unique. */
    record Pairs(Map<Object, Object> pairs) implements OvsdbDatum {
        public Pairs {
            pairs = Map.copyOf(pairs);
        }
    }

    OvsdbDatum EMPTY = new Atoms(Set.of());

    static OvsdbDatum read(JsonNode node) throws Malformed {
        if (node.isArray() && node.size() == 2 && node.get(0).isTextual()) {
            JsonNode body = node.get(1);
            switch (node.get(0).textValue()) {
                case "set" -> {
                    return set(list(node, body));
                }
                case "map" -> {
                    return map(list(node, body));
                }
                default -> {}
            }
        }
        return new Atoms(Set.of(atom(node)));
    }

    /**
     * Returns the value after an {@code update2} difference of a column of this kind; see ovsdb-server(7), "Update2
     * Notification".
     */
    static OvsdbDatum modified(OvsdbDatum before, OvsdbDatum difference) throws Malformed {
        if (before instanceof Atoms had && difference instanceof Atoms toggled) {
            Set<Object> atoms = new HashSet<>(had.atoms);
            for (Object atom : toggled.atoms) {
                if (!atoms.remove(atom)) {
                    atoms.add(atom);
                }
            }
            return new Atoms(atoms);
        }
        if (before instanceof Pairs had && difference instanceof Pairs changed) {
            Map<Object, Object> pairs = new HashMap<>(had.pairs);
            changed.pairs.forEach((key, value) -> {
                if (value.equals(pairs.get(key))) {
                    pairs.remove(key);
                } else {
                    pairs.put(key, value);
                }
            });
            return new Pairs(pairs);
        }
        throw new Malformed("OVSDB update", "a difference of the column's own kind", difference.toString());
    }

    private static OvsdbDatum set(ArrayNode list) throws Malformed {
        Set<Object> atoms = new HashSet<>();
        for (JsonNode element : list) {
            atoms.add(atom(element));
        }
        return new Atoms(atoms);
    }

    private static OvsdbDatum map(ArrayNode list) throws Malformed {
        Map<Object, Object> pairs = new HashMap<>();
        for (JsonNode pair : list) {
            if (!pair.isArray() || pair.size() != 2) {
                throw new Malformed("OVSDB map", "a pair", pair.toString());
            }
            if (pairs.put(atom(pair.get(0)), atom(pair.get(1))) != null) {
                throw new Malformed("OVSDB map", "each key once", pair.toString());
            }
        }
        return new Pairs(pairs);
    }

    private static Object atom(JsonNode node) throws Malformed {
        if (node.isTextual()) {
            return node.textValue();
        }
        if (node.isBoolean()) {
            return node.booleanValue();
        }
        if (node.isIntegralNumber() && node.canConvertToLong()) {
            return node.longValue();
        }
        if (node.isFloatingPointNumber()) {
            return node.doubleValue();
        }
        if (node.isArray()
                && node.size() == 2
                && "uuid".equals(node.get(0).textValue())
                && node.get(1).isTextual()) {
            return uuid(node.get(1).textValue());
        }
        throw new Malformed("OVSDB value", "a string, number, boolean or uuid", node.toString());
    }

    /** Parses the full form only: {@link UUID#fromString} alone also accepts {@code 1-1-1-1-1}. */
    static UUID uuid(String text) throws Malformed {
        try {
            UUID uuid = UUID.fromString(text);
            if (uuid.toString().equals(text)) {
                return uuid;
            }
        } catch (IllegalArgumentException e) {
            throw new Malformed("OVSDB uuid", "36 characters", "\"" + text + "\"", e);
        }
        throw new Malformed("OVSDB uuid", "36 characters in lower case", "\"" + text + "\"");
    }

    private static ArrayNode list(JsonNode whole, JsonNode body) throws Malformed {
        if (body instanceof ArrayNode array) {
            return array;
        }
        throw new Malformed("OVSDB value", "a list", whole.toString());
    }
}
