package org.cloister.relay.admin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.tickets.TicketLifecycle;

/** Renders tickets as JSON for operators. */
final class TicketListing {
    private TicketListing() {}

    static ObjectNode of(TicketLifecycle.Status status, Instant now) {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("draining", status.draining())
                .put("audit_writable", status.auditWritable())
                .put("vlans_held", status.vlans().allocated())
                .put("vlans_resting", status.vlans().resting())
                .put("vlans_free", status.vlans().free());
        ArrayNode tickets = document.putArray("tickets");
        status.tickets().forEach(row -> write(tickets.addObject(), row, now));
        return document;
    }

    private static void write(ObjectNode json, TicketRow row, Instant now) {
        json.put("ticket", row.id())
                .put("project", row.request().project())
                .put("account", row.request().account())
                .put("state", row.state().toString())
                .put("withdrawn", row.withdrawn())
                .put("nodes", row.request().nodes())
                .put("cpus", row.request().cpus())
                .put("memory_mib", row.request().memoryMib())
                .put("seconds", Duration.between(row.request().accepted(), now).toSeconds());
        row.request().drive().ifPresent(drive -> json.put("drive", drive));
        row.job().ifPresent(job -> json.put("job", job));
        ArrayNode nodes = json.putArray("node_names");
        row.nodes().forEach(nodes::add);
        TicketEnd end = row.end();
        if (end != null) {
            json.put("end", end.toString()).put("text", row.endText());
        }
    }
}
