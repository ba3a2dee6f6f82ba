package org.cloister.protocol.identity;

import java.io.IOException;

/** Refusal of an identity, document or list by a rule. The text has subject, clause, both values and the remedy. */
public final class IdentityRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final IdentityClause clause;

    public IdentityRefusedException(
            IdentityClause clause, String subject, String expected, String actual, String remedy) {
        super(subject + " refused (" + clause + "): want " + expected + ", have " + actual + "; " + remedy);
        this.clause = clause;
    }

    /** Returns the clause, for programs to branch on. */
    public IdentityClause clause() {
        return clause;
    }
}
