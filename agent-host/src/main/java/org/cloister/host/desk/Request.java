package org.cloister.host.desk;

import java.util.regex.Pattern;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/** What a caller says in its first line; after {@link Run}, {@code {"request":"stop"}} may follow. */
sealed interface Request {
    /** A ticket's id, a VM's UUID or a domain's name. */
    Pattern NAME = Pattern.compile("[a-z0-9-]{1,64}");

    /** @param again as in {@link Work#run} */
    record Run(String ticket, boolean again) implements Request {}

    record ShowStatus() implements Request {}

    record ShowVms() implements Request {}

    record ShowLedger() implements Request {}

    record Stop(String vm) implements Request {}

    record Render(String what) implements Request {}

    static Request parse(byte[] line) throws MalformedException {
        StrictJson json = StrictJson.read(line, Connection.MAX_LINE);
        String word = json.text("request");
        Request request = switch (word) {
            case "run" -> new Run(json.text("ticket", Ticket.ID), json.flag("again"));
            case "status" -> new ShowStatus();
            case "vms" -> new ShowVms();
            case "ledger" -> new ShowLedger();
            case "stop" -> new Stop(json.text("vm", NAME));
            case "render" -> new Render(json.text("what", NAME));
            default ->
                throw new MalformedException(
                        "request: want run, status, vms, ledger, stop or render, have " + StrictJson.quoted(word));
        };
        json.requireNothingElse();
        return request;
    }

    /** What may follow {@link Run}. */
    static void requireStop(byte[] line) throws MalformedException {
        StrictJson json = StrictJson.read(line, Connection.MAX_LINE);
        String word = json.text("request");
        if (!word.equals("stop")) {
            throw new MalformedException(
                    "request: want stop while a VM is waited for, have " + StrictJson.quoted(word));
        }
        json.requireNothingElse();
    }
}
