package org.cloister.ctl.opening;

import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.protocol.ticket.RelayTicketMessage;

/** Adds the state of an opening to the output of the commands that open and close a project. */
final class OpeningStateOutput {
    private OpeningStateOutput() {}

    static void addTo(KeyValueOutput facts, RelayTicketMessage.Update update) {
        facts.with("state", update.state());
        update.end().ifPresent(end -> facts.with("end", end));
        // Without a reason, the relay repeats the end as its text.
        boolean more =
                update.end().map(end -> !update.text().equals(end.toString())).orElse(true);
        if (more && !update.text().isEmpty()) {
            facts.with("text", update.text());
        }
        if (update.job() != 0) {
            facts.with("job", update.job());
        }
    }
}
