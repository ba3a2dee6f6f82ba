package org.cloister.relay.state;

import java.util.List;

/**
 * Records that the audit chain has yet to take, written with what they tell of in one transaction. Their ids only rise and
 * none comes twice, so that after a kill what the chain has already is known by its id.
 */
public final class AuditOutbox {
    /** One record, as it was given. */
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

    /** @return its id, from 1 */
    public long add(byte[] body) throws RelayDatabaseException {
        return sql.number("INSERT INTO outbox (body) VALUES (?) RETURNING id", (Object) body);
    }

    /** Those with a higher id than {@code after}, in order. */
    public List<Pending> pending(long after, int limit) throws RelayDatabaseException {
        return sql.list(
                columns -> new Pending(columns.getLong(1), columns.getBytes(2)),
                "SELECT id, body FROM outbox WHERE id > ? ORDER BY id LIMIT ?",
                after,
                limit);
    }

    /** The chain has all up to this id. */
    public void markWritten(long upTo) throws RelayDatabaseException {
        sql.update("DELETE FROM outbox WHERE id <= ?", upTo);
    }

    /** How many wait. */
    public long size() throws RelayDatabaseException {
        return sql.number("SELECT COUNT(*) FROM outbox");
    }
}
