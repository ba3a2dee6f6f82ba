package org.cloister.protocol.ticket;

import java.io.IOException;

/** A ticket, or what was allocated for one, is not taken. The text has subject, clause, both values and the remedy. */
public final class TicketRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final TicketClause clause;
    private final String detail;
    private final long newestEpoch;

    public TicketRefusedException(TicketClause clause, String subject, String wanted, String had, String remedy) {
        this(clause, subject, "want " + wanted + ", have " + had + "; " + remedy, 0);
    }

    private TicketRefusedException(TicketClause clause, String subject, String detail, long newestEpoch) {
        super(subject + " refused (" + clause + "): " + detail);
        this.clause = clause;
        this.detail = detail;
        this.newestEpoch = newestEpoch;
    }

    /** An opening whose epoch was used, or is older than one that was. */
    static TicketRefusedException usedEpoch(String subject, long newest, long had) {
        return new TicketRefusedException(
                TicketClause.SEQUENCE,
                subject,
                "want an epoch after " + newest + ", have " + had
                        + "; somebody opened it since; if it is to be opened anew, sign with a later epoch",
                newest);
    }

    /** What to branch on. */
    public TicketClause clause() {
        return clause;
    }

    /** Both values and the remedy, for who knows subject and clause. */
    public String detail() {
        return detail;
    }

    /** The highest epoch of an opening that was taken, if an opening is refused for it; otherwise 0. */
    public long newestEpoch() {
        return newestEpoch;
    }
}
