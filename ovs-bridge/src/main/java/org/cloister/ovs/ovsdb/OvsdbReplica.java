package org.cloister.ovs.ovsdb;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.cloister.ovs.io.OvsException.Malformed;
import org.jspecify.annotations.Nullable;

/** Copy of the monitored rows, kept current by the server's updates. Owned by the event loop. */
public final class OvsdbReplica {
    private static final OvsdbDatum NO_PAIRS = new OvsdbDatum.Pairs(Map.of());

    private final OvsdbColumns columns;
    private final Map<String, Map<UUID, OvsdbRow>> tables = new HashMap<>();

    public OvsdbReplica(OvsdbColumns columns) {
        this.columns = columns;
        columns.tables().keySet().forEach(table -> tables.put(table, new HashMap<>()));
    }

    public Collection<OvsdbRow> rows(String table) {
        return table(table).values();
    }

    public @Nullable OvsdbRow row(String table, UUID uuid) {
        return table(table).get(uuid);
    }

    /** Applies the notification of RFC 7047, section 4.1.6; also the first reply to {@code monitor}. */
    public void update(JsonNode updates) throws Malformed {
        each(updates, (table, uuid, change) -> {
            JsonNode after = change.get("new");
            if (after == null || after.isNull()) {
                table(table).remove(uuid);
            } else {
                // RFC 7047 sends whole rows here.
                table(table).put(uuid, row(table, uuid, after));
            }
        });
    }

    /**
     * Applies the notification of ovsdb-server(7) that has differences; also the first reply to {@code monitor_cond}.
     */
    public void update2(JsonNode updates) throws Malformed {
        each(updates, (table, uuid, change) -> {
            if (change.size() != 1) {
                throw new Malformed("OVSDB update2", "one kind of change", change.toString());
            }
            String kind = change.fieldNames().next();
            JsonNode body = change.get(kind);
            switch (kind) {
                case "initial", "insert" -> table(table).put(uuid, row(table, uuid, body));
                case "delete" -> table(table).remove(uuid);
                case "modify" -> table(table).put(uuid, modified(table, uuid, body));
                default -> throw new Malformed("OVSDB update2", "a known kind of change", kind);
            }
        });
    }

    /** A change of one row. */
    @FunctionalInterface
    private interface Change {
        void apply(String table, UUID uuid, JsonNode change) throws Malformed;
    }

    private void each(JsonNode updates, Change change) throws Malformed {
        requireObject(updates);
        for (Map.Entry<String, JsonNode> table : updates.properties()) {
            if (!tables.containsKey(table.getKey())) {
                throw new Malformed("OVSDB update", "a table of " + tables.keySet(), table.getKey());
            }
            requireObject(table.getValue());
            for (Map.Entry<String, JsonNode> row : table.getValue().properties()) {
                requireObject(row.getValue());
                change.apply(table.getKey(), OvsdbDatum.uuid(row.getKey()), row.getValue());
            }
        }
    }

    /**
     * Reads a row. An omitted column has its default, which is empty for all copied columns but numbers, which are
     * always sent.
     */
    private OvsdbRow row(String table, UUID uuid, JsonNode body) throws Malformed {
        requireObject(body);
        Map<String, OvsdbDatum> values = new HashMap<>();
        for (String column : kinds(table).keySet()) {
            JsonNode value = body.get(column);
            values.put(column, value == null ? OvsdbDatum.EMPTY : OvsdbDatum.read(value));
        }
        return new OvsdbRow(uuid, values);
    }

    private OvsdbRow modified(String table, UUID uuid, JsonNode body) throws Malformed {
        requireObject(body);
        OvsdbRow before = table(table).get(uuid);
        if (before == null) {
            throw new Malformed("OVSDB update2 of " + table, "a row that is known", uuid.toString());
        }
        Map<String, OvsdbDatum> values = new HashMap<>(before.columns());
        for (Map.Entry<String, JsonNode> column : body.properties()) {
            OvsdbColumns.Kind kind = kinds(table).get(column.getKey());
            OvsdbDatum had = values.get(column.getKey());
            if (kind == null || had == null) {
                throw new Malformed("OVSDB update2 of " + table, "a column asked for", column.getKey());
            }
            OvsdbDatum datum = OvsdbDatum.read(column.getValue());
            if (kind == OvsdbColumns.Kind.SCALAR) {
                values.put(column.getKey(), datum);
            } else {
                OvsdbDatum from = datum instanceof OvsdbDatum.Pairs && had.equals(OvsdbDatum.EMPTY) ? NO_PAIRS : had;
                values.put(column.getKey(), OvsdbDatum.modified(from, datum));
            }
        }
        return new OvsdbRow(uuid, values);
    }

    private Map<String, OvsdbColumns.Kind> kinds(String table) {
        return columns.tables().getOrDefault(table, Map.of());
    }

    private Map<UUID, OvsdbRow> table(String table) {
        Map<UUID, OvsdbRow> rows = tables.get(table);
        if (rows == null) {
            throw new IllegalArgumentException("table " + table + ": not monitored; monitored: " + tables.keySet());
        }
        return rows;
    }

    private static void requireObject(@Nullable JsonNode node) throws Malformed {
        if (node == null || !node.isObject()) {
            throw new Malformed("OVSDB update", "an object", node == null ? "nothing" : node.toString());
        }
    }
}
