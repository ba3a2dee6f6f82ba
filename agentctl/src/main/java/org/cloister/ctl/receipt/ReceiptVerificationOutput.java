package org.cloister.ctl.receipt;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.TextTable;
import org.cloister.protocol.receipt.ReceiptFinding;
import org.cloister.protocol.receipt.ReceiptVerification;

/** Output of a receipt's verification, one line for each finding. */
record ReceiptVerificationOutput(ReceiptVerification found) implements CommandOutput {
    @Override
    public TextTable table() {
        TextTable table = new TextTable();
        for (ReceiptFinding each : found.findings()) {
            table.row(each.level().toString(), each.subject(), each.text());
        }
        return table.row(
                found.isVerified() ? "verified" : "NOT verified",
                "ticket " + found.receipt().ticket());
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("ticket", found.receipt().ticket())
                .put("project", found.receipt().project())
                .put("verified", found.isVerified());
        ArrayNode list = document.putArray("findings");
        for (ReceiptFinding each : found.findings()) {
            list.addObject()
                    .put("level", each.level().toString())
                    .put("place", each.subject())
                    .put("text", each.text());
        }
        return document;
    }
}
