package org.cloister.ctl.opening;

import org.cloister.ctl.output.Facts;
import org.cloister.protocol.ticket.OfficeMessage;

/** How an opening stands, as both commands print it. */
final class Standing {
    private Standing() {}

    static void add(Facts facts, OfficeMessage.Update update) {
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
