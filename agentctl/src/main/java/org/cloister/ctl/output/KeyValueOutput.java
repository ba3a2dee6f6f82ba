package org.cloister.ctl.output;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/** Output of texts, each under a key. */
public final class KeyValueOutput implements CommandOutput {
    private record Field(String key, String value) {}

    private final List<Field> facts = new ArrayList<>();

    public KeyValueOutput with(String key, Object value) {
        facts.add(new Field(key, value.toString()));
        return this;
    }

    @Override
    public TextTable table() {
        TextTable table = new TextTable();
        facts.forEach(fact -> table.row(fact.key, fact.value));
        return table;
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        facts.forEach(fact -> document.put(fact.key, fact.value));
        return document;
    }
}
