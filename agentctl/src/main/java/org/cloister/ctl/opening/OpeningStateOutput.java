package org.cloister.ctl.opening;

import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.protocol.ticket.RelayTicketMessage;

/** How an opening stands, as both commands print it. */
final class OpeningStateOutput {
    private OpeningStateOutput() {}

    static void addTo(KeyValueOutput facts, RelayTicketMessage.Update update) {
        facts.with("state", update.state());
        update.end().ifPresent(end -> facts.with("end", end));
        // Where nobody had more to say, the relay says the end again.
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
