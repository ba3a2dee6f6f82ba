package org.cloister.ctl.image;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.TextTable;

/** Differences between an image's files and its manifest. */
public record ImageVerification(Digest identity, List<String> differences) implements CommandOutput {
    public ImageVerification {
        differences = List.copyOf(differences);
    }

    public boolean passed() {
        return differences.isEmpty();
    }

    @Override
    public TextTable table() {
        TextTable table = new TextTable();
        if (passed()) {
            table.row("ok", identity.hex());
        }
        differences.forEach(difference -> table.row("failure", difference));
        return table;
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("identity", identity.hex())
                .put("passed", passed());
        ArrayNode list = document.putArray("differences");
        differences.forEach(list::add);
        return document;
    }
}
