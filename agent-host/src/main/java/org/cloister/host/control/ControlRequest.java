package org.cloister.host.control;

import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/** First line that a caller sends; after {@link Run}, {@code {"request":"stop"}} may follow. */
sealed interface ControlRequest {
    /** Form of a ticket's id, a VM's UUID or a domain's name. */
    Pattern NAME = Pattern.compile("[a-z0-9-]{1,64}");

    /**
     * Runs the VM of a ticket.
     *
     * @param reattach as in {@link HostOperations#run}
     */
    record Run(String ticket, boolean reattach) implements ControlRequest {}

    record ShowStatus() implements ControlRequest {}

    record ShowVms() implements ControlRequest {}

    record ShowLedger() implements ControlRequest {}

    record Stop(String vm) implements ControlRequest {}

    record Render(String what) implements ControlRequest {}

    static ControlRequest parse(byte[] line) throws MalformedException {
        StrictJson json = StrictJson.read(line, ControlConnection.MAX_LINE);
        String kind = json.text("request");
        ControlRequest request = switch (kind) {
            case "run" -> new Run(json.text("ticket", Ticket.ID), json.flag("again"));
            case "status" -> new ShowStatus();
            case "vms" -> new ShowVms();
            case "ledger" -> new ShowLedger();
            case "stop" -> new Stop(json.text("vm", NAME));
            case "render" -> new Render(json.text("what", NAME));
            default ->
                throw new MalformedException(
                        "request: expected run, status, vms, ledger, stop or render, got " + StrictJson.quoted(kind));
        };
        json.requireNothingElse();
        return request;
    }

    /** Requires the only line that may follow {@link Run}. */
    static void requireStop(byte[] line) throws MalformedException {
        StrictJson json = StrictJson.read(line, ControlConnection.MAX_LINE);
        String kind = json.text("request");
        if (!kind.equals("stop")) {
            throw new MalformedException("request: expected stop after run, got " + StrictJson.quoted(kind));
        }
        json.requireNothingElse();
    }
}
