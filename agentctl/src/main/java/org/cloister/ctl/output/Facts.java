package org.cloister.ctl.output;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/** Some texts, each under a key. */
public final class Facts implements Answer {
    private record Fact(String key, String value) {}

    private final List<Fact> facts = new ArrayList<>();

    public Facts with(String key, Object value) {
        facts.add(new Fact(key, value.toString()));
        return this;
    }

    @Override
    public Table table() {
        Table table = new Table();
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
