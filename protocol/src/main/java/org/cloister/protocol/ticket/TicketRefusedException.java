package org.cloister.protocol.ticket;

import java.io.IOException;

/** Refusal of a ticket, or of an allocation for one. The text has subject, clause, both values and the remedy. */
public final class TicketRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final TicketClause clause;
    private final String detail;
    private final long newestEpoch;

    public TicketRefusedException(TicketClause clause, String subject, String expected, String actual, String remedy) {
        this(clause, subject, "want " + expected + ", have " + actual + "; " + remedy, 0);
    }

    private TicketRefusedException(TicketClause clause, String subject, String detail, long newestEpoch) {
        super(subject + " refused (" + clause + "): " + detail);
        this.clause = clause;
        this.detail = detail;
        this.newestEpoch = newestEpoch;
    }

    /** Returns the refusal of an opening whose epoch was used, or is older than a used one. */
    static TicketRefusedException usedEpoch(String subject, long newest, long actual) {
        return new TicketRefusedException(
                TicketClause.SEQUENCE,
                subject,
                "want an epoch after " + newest + ", have " + actual
                        + "; somebody opened it since; if it is to be opened anew, sign with a later epoch",
                newest);
    }

    /** Returns the clause, for programs to branch on. */
    public TicketClause clause() {
        return clause;
    }

    /** Returns both values and the remedy, for readers who have subject and clause already. */
    public String detail() {
        return detail;
    }

    /** Returns the highest epoch of an accepted opening, if an opening is refused for its epoch; otherwise 0. */
    public long newestEpoch() {
        return newestEpoch;
    }
}
