package org.cloister.ctl;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.cloister.ctl.output.Answer;
import org.cloister.ctl.output.Table;
import org.cloister.preflight.Examination;
import org.cloister.preflight.Finding;

/** An examination, a line a finding. */
record ExaminationAnswer(Examination examination) implements Answer {
    @Override
    public Table table() {
        Table table = new Table();
        for (Finding finding : examination.findings()) {
            String mend = finding.mend().map(text -> "; mend: " + text).orElse("");
            table.row(finding.level().toString(), finding.check(), finding.text() + mend);
        }
        return table;
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("role", examination.role().toString())
                .put("worst", examination.worst().toString());
        ArrayNode list = document.putArray("findings");
        for (Finding finding : examination.findings()) {
            ObjectNode node = list.addObject()
                    .put("check", finding.check())
                    .put("level", finding.level().toString())
                    .put("text", finding.text());
            finding.mend().ifPresent(mend -> node.put("mend", mend));
        }
        return document;
    }
}
