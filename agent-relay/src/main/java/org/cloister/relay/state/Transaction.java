package org.cloister.relay.state;

/** What there is to work on, until the work ends; afterwards its parts throw {@link IllegalStateException}. */
public final class Transaction {
    private final Sql sql;
    private final Tickets tickets;
    private final Slots slots;
    private final Numbers numbers;
    private final Outbox outbox;
    private final Marks marks;
    private int depth;

    Transaction(Sql sql, Numbers numbers) {
        this.sql = sql;
        this.tickets = new Tickets(sql);
        this.slots = new Slots(sql);
        this.numbers = numbers;
        this.outbox = new Outbox(sql);
        this.marks = new Marks(sql);
    }

    public Tickets tickets() {
        return tickets;
    }

    public Slots slots() {
        return slots;
    }

    public Numbers numbers() {
        return numbers;
    }

    public Outbox outbox() {
        return outbox;
    }

    public Marks marks() {
        return marks;
    }

    /**
     * A part that is undone alone when it throws, such as one of many tickets that is refused half way. The rest of the
     * transaction goes on.
     */
    public <T, X extends Exception> T attempt(Work<T, X> part) throws StateException, X {
        String name = "part" + depth++;
        sql.say("SAVEPOINT " + name);
        boolean done = false;
        try {
            T result = part.in(this);
            done = true;
            return result;
        } finally {
            depth--;
            if (!done) {
                sql.say("ROLLBACK TO SAVEPOINT " + name);
            }
            sql.say("RELEASE SAVEPOINT " + name);
        }
    }
}
