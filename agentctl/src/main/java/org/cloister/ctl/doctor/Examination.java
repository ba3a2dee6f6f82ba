package org.cloister.ctl.doctor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.cloister.ctl.output.Answer;
import org.cloister.ctl.output.Table;

/** All findings of one run, in the order of the checks. */
public record Examination(Role role, List<Finding> findings) implements Answer {
    public Examination {
        findings = List.copyOf(findings);
    }

    public Level worst() {
        return findings.stream().map(Finding::level).max(Level::compareTo).orElse(Level.OK);
    }

    @Override
    public Table table() {
        Table table = new Table();
        for (Finding finding : findings) {
            String mend = finding.mend().map(text -> "; mend: " + text).orElse("");
            table.row(finding.level().toString(), finding.check(), finding.text() + mend);
        }
        return table;
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("role", role.toString())
                .put("worst", worst().toString());
        ArrayNode list = document.putArray("findings");
        for (Finding finding : findings) {
            ObjectNode node = list.addObject()
                    .put("check", finding.check())
                    .put("level", finding.level().toString())
                    .put("text", finding.text());
            finding.mend().ifPresent(mend -> node.put("mend", mend));
        }
        return document;
    }
}
