package org.cloister.relay.state;

/** What the state says no to, for a reason that is the asker's; the database is well. */
public abstract sealed class Refusal extends Exception permits TakenException, SequenceException, ExhaustedException {
    private static final long serialVersionUID = 1;

    Refusal(String text) {
        super(text);
    }
}
