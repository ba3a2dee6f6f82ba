package org.cloister.relay.state;

/** A ticket that does not come after all earlier ones of its project: most likely an old one, sent again. */
public final class SequenceException extends Refusal {
    private static final long serialVersionUID = 1;

    private final transient Sequence highest;

    SequenceException(String project, Sequence have, Sequence highest) {
        super("project " + project + ": want a ticket after " + highest + ", have " + have);
        this.highest = highest;
    }

    public Sequence highest() {
        return highest;
    }
}
