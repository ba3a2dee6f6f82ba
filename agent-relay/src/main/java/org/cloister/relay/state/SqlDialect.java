package org.cloister.relay.state;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.cloister.relay.state.RelayDatabaseException.Kind;

/**
 * Differences between the two databases; all other SQL is the same for both.
 *
 * @param opening statements that are executed once on each connection
 * @param check query that returns {@code ok}, or the damage that it found
 * @param begin statement that starts a writing transaction
 * @param identity type of a key that the database increments and never reuses
 * @param bytes type of a column of bytes
 */
record SqlDialect(List<String> opening, String check, String begin, String identity, String bytes) {
    /**
     * Pragmas for exclusive use by one process (locking_mode) and for each commit on disk (synchronous); both apply to
     * this connection only. The lock is taken before the journal's mode is read, so the write-ahead log needs no shared
     * memory.
     */
    static final SqlDialect SQLITE = new SqlDialect(
            List.of(
                    "PRAGMA busy_timeout = 2000",
                    "PRAGMA locking_mode = EXCLUSIVE",
                    "PRAGMA journal_mode = WAL",
                    "PRAGMA synchronous = FULL",
                    "PRAGMA foreign_keys = ON",
                    "PRAGMA trusted_schema = OFF",
                    "PRAGMA cell_size_check = ON",
                    "PRAGMA journal_size_limit = 16777216"),
            "PRAGMA quick_check(1)",
            "BEGIN IMMEDIATE",
            "INTEGER PRIMARY KEY AUTOINCREMENT",
            "BLOB");

    /** Result codes of sqlite.org/rescode.html; the low byte is the primary one. */
    private static final int BUSY = 5;

    private static final int LOCKED = 6;
    private static final int READ_ONLY = 8;
    private static final int CORRUPT = 11;
    private static final int FULL = 13;
    private static final int CANNOT_OPEN = 14;
    private static final int NOT_A_DATABASE = 26;

    String url(Path file) {
        return "jdbc:sqlite:" + file.toAbsolutePath().toUri();
    }

    Kind failureKind(SQLException e) {
        return switch (e.getErrorCode() & 0xff) {
            case BUSY, LOCKED -> Kind.LOCKED;
            case READ_ONLY, CANNOT_OPEN -> Kind.READ_ONLY;
            case CORRUPT, NOT_A_DATABASE -> Kind.CORRUPT;
            case FULL -> Kind.FULL;
            default -> Kind.UNREADABLE;
        };
    }
}
