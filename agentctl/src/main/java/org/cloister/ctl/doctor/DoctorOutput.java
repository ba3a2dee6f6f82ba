package org.cloister.ctl.doctor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.TextTable;
import org.cloister.preflight.PreflightFinding;
import org.cloister.preflight.PreflightReport;

/** Output of a preflight report, one line for each finding. */
record DoctorOutput(PreflightReport examination) implements CommandOutput {
    @Override
    public TextTable table() {
        TextTable table = new TextTable();
        for (PreflightFinding finding : examination.findings()) {
            String remedy = finding.remedy().map(text -> "; mend: " + text).orElse("");
            table.row(finding.severity().toString(), finding.check(), finding.text() + remedy);
        }
        return table;
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("role", examination.role().toString())
                .put("worst", examination.worstSeverity().toString());
        ArrayNode list = document.putArray("findings");
        for (PreflightFinding finding : examination.findings()) {
            ObjectNode node = list.addObject()
                    .put("check", finding.check())
                    .put("level", finding.severity().toString())
                    .put("text", finding.text());
            finding.remedy().ifPresent(remedy -> node.put("mend", remedy));
        }
        return document;
    }
}
