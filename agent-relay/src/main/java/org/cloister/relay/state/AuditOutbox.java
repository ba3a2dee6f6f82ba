package org.cloister.relay.state;

import java.util.List;

/**
 * Stores audit records that are not in the audit log yet; each is written in the same transaction as the change that it
 * describes. Ids only increase and are never reused, so that after a kill a record that the log already contains is
 * recognised by its id.
 */
public final class AuditOutbox {
    /** Record that waits for the audit log. */
    public static final class Pending {
        private final long id;
        private final byte[] body;

        Pending(long id, byte[] body) {
            this.id = id;
            this.body = body;
        }

        public long id() {
            return id;
        }

        public byte[] body() {
            return body.clone();
        }
    }

    private final SqlSession sql;

    AuditOutbox(SqlSession sql) {
        this.sql = sql;
    }

    /**
     * Adds a record.
     *
     * @return the record's id, from 1
     */
    public long add(byte[] body) throws RelayDatabaseException {
        return sql.number("INSERT INTO outbox (body) VALUES (?) RETURNING id", (Object) body);
    }

    /** Returns the records with an id higher than {@code after}, in order. */
    public List<Pending> pending(long after, int limit) throws RelayDatabaseException {
        return sql.list(
                columns -> new Pending(columns.getLong(1), columns.getBytes(2)),
                "SELECT id, body FROM outbox WHERE id > ? ORDER BY id LIMIT ?",
                after,
                limit);
    }

    /** Deletes the records up to this id, which the audit log now contains. */
    public void markWritten(long upTo) throws RelayDatabaseException {
        sql.update("DELETE FROM outbox WHERE id <= ?", upTo);
    }

    /** Returns the number of waiting records. */
    public long size() throws RelayDatabaseException {
        return sql.number("SELECT COUNT(*) FROM outbox");
    }
}
