package org.cloister.relay.state;

import java.util.ArrayList;
import java.util.List;
import org.cloister.relay.state.RelayDatabaseException.Kind;

/**
 * Defines the tables as a list of steps: step n migrates from version n-1 to n, in one transaction each. A released
 * step never changes; a change is a further step.
 */
final class StateSchema {
    private StateSchema() {}

    static int newest(SqlDialect dialect) {
        return steps(dialect).size();
    }

    /** Migrates an empty or older database to the newest version. */
    static void migrate(SqlSession sql) throws RelayDatabaseException {
        List<List<String>> steps = steps(sql.dialect());
        for (int version = version(sql); version < steps.size(); version++) {
            sql.startTransaction();
            boolean done = false;
            try {
                for (String statement : steps.get(version)) {
                    sql.execute(statement);
                }
                sql.update("DELETE FROM schema_version");
                sql.update("INSERT INTO schema_version (version) VALUES (?)", version + 1);
                sql.commit();
                done = true;
            } finally {
                if (!done) {
                    sql.rollback();
                }
            }
        }
    }

    private static int version(SqlSession sql) throws RelayDatabaseException {
        List<String> tables = sql.tables();
        if (tables.isEmpty()) {
            return 0;
        }
        if (!tables.contains("schema_version")) {
            throw sql.failure(Kind.CORRUPT, "want a relay's tables, have " + String.join(", ", tables));
        }
        sql.startTransaction();
        try {
            long version = sql.number("SELECT version FROM schema_version");
            int newest = newest(sql.dialect());
            if (version > newest) {
                throw sql.failure(Kind.NEWER, "want a version up to " + newest + ", have " + version);
            }
            if (version < 1) {
                throw sql.failure(Kind.CORRUPT, "want a version from 1, have " + version);
            }
            return (int) version;
        } finally {
            sql.rollback();
        }
    }

    private static List<List<String>> steps(SqlDialect dialect) {
        return List.of(first(dialect), openings(), parts(dialect.bytes()));
    }

    /**
     * Returns the first version. Times are milliseconds since 1970; running times are seconds that a relay has run on
     * this database.
     */
    private static List<String> first(SqlDialect dialect) {
        List<String> all = new ArrayList<>();
        all.add("CREATE TABLE schema_version (version INTEGER NOT NULL)");
        all.add("CREATE TABLE mark (name TEXT PRIMARY KEY, value TEXT NOT NULL)");
        all.add("CREATE TABLE outbox (id " + dialect.identity() + ", body " + dialect.bytes() + " NOT NULL)");
        all.addAll(tickets(dialect.bytes()));
        all.addAll(numbers());
        return all;
    }

    private static List<String> tickets(String bytes) {
        return List.of(
                // Never deleted: it detects an old ticket after its own row was deleted.
                """
                CREATE TABLE project_sequence (
                  project TEXT PRIMARY KEY, epoch BIGINT NOT NULL, number BIGINT NOT NULL)""",
                """
                CREATE TABLE ticket (
                  id TEXT PRIMARY KEY, project TEXT NOT NULL, controller TEXT NOT NULL, digest TEXT NOT NULL,
                  envelope %1$s NOT NULL, chain %1$s NOT NULL, epoch BIGINT NOT NULL, number BIGINT NOT NULL,
                  nodes INTEGER NOT NULL, cpus BIGINT NOT NULL, memory_mib BIGINT NOT NULL, account TEXT NOT NULL,
                  accepted BIGINT NOT NULL,
                  state TEXT NOT NULL CHECK (state IN ('accepted', 'queued', 'running', 'ended')),
                  withdrawn INTEGER NOT NULL, submitting BIGINT, job BIGINT, node_names TEXT, allocation %1$s,
                  outcome TEXT, reason TEXT, ended BIGINT,
                  UNIQUE (project, epoch, number),
                  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
                  CHECK ((state = 'ended') = (ended IS NOT NULL)))""".formatted(bytes),
                """
                CREATE INDEX ticket_open ON ticket (project, nodes, cpus, memory_mib) WHERE state <> 'ended'""",
                "CREATE INDEX ticket_ended ON ticket (ended, id) WHERE state = 'ended'",
                """
                CREATE TABLE claim (
                  ticket TEXT NOT NULL REFERENCES ticket (id) ON DELETE CASCADE, slot INTEGER NOT NULL,
                  host TEXT NOT NULL, PRIMARY KEY (ticket, slot))""",
                """
                CREATE TABLE receipt_part (
                  ticket TEXT NOT NULL REFERENCES ticket (id) ON DELETE CASCADE, signer TEXT NOT NULL,
                  envelope %s NOT NULL, PRIMARY KEY (ticket, signer))""".formatted(bytes));
    }

    /** Returns the changes for openings. An opening is a ticket with a drive; its number is 0, which no ticket has. */
    private static List<String> openings() {
        return List.of(
                "ALTER TABLE ticket ADD COLUMN drive TEXT",
                // Never deleted, like project_sequence.
                "CREATE TABLE project_opening (project TEXT PRIMARY KEY, epoch BIGINT NOT NULL)");
    }

    /**
     * Returns the columns that a receipt and an opener need about a host; they are null in rows of earlier versions of
     * the relay.
     */
    private static List<String> parts(String bytes) {
        return List.of(
                "ALTER TABLE receipt_part ADD COLUMN chain " + bytes, "ALTER TABLE claim ADD COLUMN since BIGINT");
    }

    /**
     * Returns the tables of VLANs and addresses. One row per number gives each number one holder; one row per project
     * or slot gives each one number.
     */
    private static List<String> numbers() {
        return List.of("""
                CREATE TABLE vlan (
                  number INTEGER PRIMARY KEY, usable INTEGER NOT NULL, project TEXT UNIQUE,
                  rests_until BIGINT NOT NULL)""", """
                CREATE INDEX vlan_free ON vlan (rests_until, number) WHERE project IS NULL AND usable = 1""", """
                CREATE TABLE address (
                  vlan INTEGER NOT NULL REFERENCES vlan (number), host INTEGER NOT NULL,
                  ticket TEXT REFERENCES ticket (id), slot INTEGER, rests_until BIGINT NOT NULL,
                  PRIMARY KEY (vlan, host), UNIQUE (ticket, slot), CHECK ((ticket IS NULL) = (slot IS NULL)))""", """
                CREATE INDEX address_free ON address (vlan, rests_until, host) WHERE ticket IS NULL""");
    }
}
