package org.cloister.protocol.ticket;

import java.io.IOException;

/** A ticket, or what was allocated for one, is not taken. The text has subject, clause, both values and the remedy. */
public final class TicketRefused extends IOException {
    private static final long serialVersionUID = 1;

    private final TicketClause clause;

    public TicketRefused(TicketClause clause, String subject, String wanted, String had, String remedy) {
        super(subject + " refused (" + clause + "): want " + wanted + ", have " + had + "; " + remedy);
        this.clause = clause;
    }

    /** What to branch on. */
    public TicketClause clause() {
        return clause;
    }
}
