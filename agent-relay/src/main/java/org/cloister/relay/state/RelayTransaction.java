package org.cloister.relay.state;

/** Gives access to the tables during a transaction; afterwards its parts throw {@link IllegalStateException}. */
public final class RelayTransaction {
    /**
     * Work of one transaction, which is committed as a whole or rolled back.
     *
     * @param <X> exception that the work may throw in addition
     */
    @FunctionalInterface
    public interface TransactionWork<T, X extends Exception> {
        T run(RelayTransaction transaction) throws RelayDatabaseException, X;
    }

    private final SqlSession sql;
    private final TicketTable tickets;
    private final SlotRecords slots;
    private final NetworkAllocator numbers;
    private final AuditOutbox outbox;
    private final PersistentValues marks;
    private int depth;

    RelayTransaction(SqlSession sql, NetworkAllocator numbers) {
        this.sql = sql;
        this.tickets = new TicketTable(sql);
        this.slots = new SlotRecords(sql);
        this.numbers = numbers;
        this.outbox = new AuditOutbox(sql);
        this.marks = new PersistentValues(sql);
    }

    public TicketTable tickets() {
        return tickets;
    }

    public SlotRecords slots() {
        return slots;
    }

    public NetworkAllocator numbers() {
        return numbers;
    }

    public AuditOutbox outbox() {
        return outbox;
    }

    public PersistentValues marks() {
        return marks;
    }

    /**
     * Runs a part of the work that is rolled back alone when it throws, such as one ticket of many that is refused. The
     * rest of the transaction continues.
     */
    public <T, X extends Exception> T attempt(TransactionWork<T, X> part) throws RelayDatabaseException, X {
        String name = "part" + depth++;
        sql.execute("SAVEPOINT " + name);
        boolean done = false;
        try {
            T result = part.run(this);
            done = true;
            return result;
        } finally {
            depth--;
            if (!done) {
                sql.execute("ROLLBACK TO SAVEPOINT " + name);
            }
            sql.execute("RELEASE SAVEPOINT " + name);
        }
    }
}
