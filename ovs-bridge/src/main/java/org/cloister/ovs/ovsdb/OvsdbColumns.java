package org.cloister.ovs.ovsdb;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;

/**
 * The tables and columns that are copied, with their kinds: {@code update2} reports a changed scalar by its new value
 * but a changed set or map by the difference.
 *
 * @param tables kinds by column by table
 */
public record OvsdbColumns(Map<String, Map<String, Kind>> tables) {
    /** Kind of a column, from the schema: a set is a column of more than one value. */
    public enum Kind {
        SCALAR,
        MANY
    }

    public OvsdbColumns {
        tables = Map.copyOf(tables);
    }

    /**
     * Returns the monitor requests, which {@code monitor} and {@code monitor_cond} both accept: all rows, all kinds of
     * change.
     */
    ObjectNode requests() {
        ObjectNode requests = JsonRpc.NODES.objectNode();
        new TreeMap<>(tables).forEach((table, columns) -> {
            ArrayNode names = JsonRpc.NODES.arrayNode();
            columns.keySet().stream().sorted().forEach(names::add);
            ObjectNode request = JsonRpc.NODES.objectNode();
            request.set("columns", names);
            requests.set(table, JsonRpc.NODES.arrayNode().add(request));
        });
        return requests;
    }
}
