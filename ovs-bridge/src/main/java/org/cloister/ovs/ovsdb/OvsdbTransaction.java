package org.cloister.ovs.ovsdb;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Operations that the server performs together or not at all (RFC 7047, section 5.2). */
public final class OvsdbTransaction {
    private final ArrayNode operations = JsonRpc.NODES.arrayNode();

    public boolean isEmpty() {
        return operations.isEmpty();
    }

    public int size() {
        return operations.size();
    }

    /** @param name by which other operations of this transaction refer to the new row, see {@link #named} */
    public OvsdbTransaction insert(String table, String name, Map<String, JsonNode> row) {
        ObjectNode operation = operation("insert", table);
        operation.put("uuid-name", name);
        operation.set("row", row(row));
        return this;
    }

    public OvsdbTransaction update(String table, UUID uuid, Map<String, JsonNode> row) {
        ObjectNode operation = operation("update", table);
        operation.set("where", is(uuid));
        operation.set("row", row(row));
        return this;
    }

    /** @param mutator {@code insert} or {@code delete} */
    public OvsdbTransaction mutate(String table, UUID uuid, String column, String mutator, JsonNode value) {
        ObjectNode operation = operation("mutate", table);
        operation.set("where", is(uuid));
        operation.set("mutations", mutation(column, mutator, value));
        return this;
    }

    /** Fails the transaction unless the row still exists. */
    public OvsdbTransaction require(String table, UUID uuid) {
        ObjectNode operation = operation("wait", table);
        operation.put("timeout", 0);
        operation.set("where", is(uuid));
        operation.set("columns", JsonRpc.NODES.arrayNode().add("_uuid"));
        operation.put("until", "==");
        operation.set(
                "rows", JsonRpc.NODES.arrayNode().add(JsonRpc.NODES.objectNode().set("_uuid", uuid(uuid))));
        return this;
    }

    /**
     * Increments {@code next_cfg} and selects it: vswitchd has applied the transaction once {@code cur_cfg} is as high.
     */
    public OvsdbTransaction count(UUID root) {
        mutate("Open_vSwitch", root, "next_cfg", "+=", JsonRpc.NODES.numberNode(1));
        ObjectNode operation = operation("select", "Open_vSwitch");
        operation.set("where", is(root));
        operation.set("columns", JsonRpc.NODES.arrayNode().add("next_cfg"));
        return this;
    }

    public OvsdbTransaction comment(String text) {
        operations.addObject().put("op", "comment").put("comment", text);
        return this;
    }

    ArrayNode operations() {
        return operations;
    }

    public static JsonNode text(String text) {
        return JsonRpc.NODES.textNode(text);
    }

    public static JsonNode number(long number) {
        return JsonRpc.NODES.numberNode(number);
    }

    public static JsonNode uuid(UUID uuid) {
        return JsonRpc.NODES.arrayNode().add("uuid").add(uuid.toString());
    }

    public static JsonNode named(String name) {
        return JsonRpc.NODES.arrayNode().add("named-uuid").add(name);
    }

    public static JsonNode set(Collection<JsonNode> elements) {
        ArrayNode list = JsonRpc.NODES.arrayNode();
        elements.forEach(list::add);
        return JsonRpc.NODES.arrayNode().add("set").add(list);
    }

    public static JsonNode map(Map<String, String> labels) {
        ArrayNode pairs = JsonRpc.NODES.arrayNode();
        new TreeMap<>(labels).forEach((key, value) -> pairs.addArray().add(key).add(value));
        return JsonRpc.NODES.arrayNode().add("map").add(pairs);
    }

    private ObjectNode operation(String kind, String table) {
        return operations.addObject().put("op", kind).put("table", table);
    }

    private static ArrayNode is(UUID uuid) {
        ArrayNode where = JsonRpc.NODES.arrayNode();
        where.addArray().add("_uuid").add("==").add(uuid(uuid));
        return where;
    }

    private static ArrayNode mutation(String column, String mutator, JsonNode value) {
        ArrayNode mutations = JsonRpc.NODES.arrayNode();
        mutations.addArray().add(column).add(mutator).add(value);
        return mutations;
    }

    private static ObjectNode row(Map<String, JsonNode> row) {
        ObjectNode node = JsonRpc.NODES.objectNode();
        new TreeMap<>(row).forEach(node::set);
        return node;
    }
}
