package org.cloister.relay.state;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.function.LongSupplier;
import org.cloister.daemon.ProcessAbort;
import org.cloister.relay.state.RelayDatabaseException.Kind;

/** Relay's open database. Work is done in transactions, one at a time; a transaction that returned is on disk. */
public final class RelayDatabase implements AutoCloseable {
    private final SqlSession sql;
    private final RelayTransaction transaction;
    private final ProcessAbort fatal;

    private RelayDatabase(SqlSession sql, NetworkPool pool, AccumulatedUptime time, ProcessAbort fatal) {
        this.sql = sql;
        this.fatal = fatal;
        this.transaction = new RelayTransaction(sql, new NetworkAllocator(sql, pool, time));
    }

    /** Opens the database for a process that ends soon anyway. */
    public static RelayDatabase open(Path file, NetworkPool pool) throws RelayDatabaseException {
        return open(file, pool, why -> {});
    }

    /**
     * Opens the file for this process alone, creates it if it does not exist, checks it, and migrates it to this
     * release's version.
     *
     * @param fatal ends the process when it is unknown whether a transaction is on disk; the next opening finds out
     */
    public static RelayDatabase open(Path file, NetworkPool pool, ProcessAbort fatal) throws RelayDatabaseException {
        return open(file, pool, SqlDialect.SQLITE, System::nanoTime, fatal);
    }

    static RelayDatabase open(Path file, NetworkPool pool, SqlDialect dialect, LongSupplier nanoTime)
            throws RelayDatabaseException {
        return open(file, pool, dialect, nanoTime, why -> {});
    }

    private static RelayDatabase open(
            Path file, NetworkPool pool, SqlDialect dialect, LongSupplier nanoTime, ProcessAbort fatal)
            throws RelayDatabaseException {
        create(file);
        SqlSession sql = SqlSession.connect(file, dialect);
        boolean done = false;
        try {
            StateSchema.migrate(sql);
            sql.startTransaction();
            check(sql);
            AccumulatedUptime time = AccumulatedUptime.resume(sql, new PersistentValues(sql), nanoTime);
            new PoolReconfiguration(sql, pool).fit(time);
            sql.commit();
            done = true;
            return new RelayDatabase(sql, pool, time, fatal);
        } finally {
            if (!done) {
                sql.rollback();
                sql.close();
            }
        }
    }

    /**
     * Creates the file, readable for its user alone whatever the process's umask is; SQLite gives its log the same
     * mode.
     */
    private static void create(Path file) throws RelayDatabaseException {
        for (Path each : List.of(file, file.toAbsolutePath().resolveSibling(""))) {
            // SQLite opens a read-only file, and fails later with an error about locks.
            if (Files.exists(each) && !Files.isWritable(each)) {
                throw new RelayDatabaseException(file, Kind.READ_ONLY, each + " is read-only", null);
            }
        }
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException e) {
            return;
        } catch (IOException e) {
            throw new RelayDatabaseException(file, Kind.READ_ONLY, "it cannot be created: " + e, e);
        }
    }

    private static void check(SqlSession sql) throws RelayDatabaseException {
        List<String> found =
                sql.list(columns -> columns.getString(1), sql.dialect().check());
        if (!found.equals(List.of("ok"))) {
            throw sql.failure(Kind.CORRUPT, String.join(", ", found));
        }
    }

    /**
     * Runs the work and commits it. If the work throws an exception, all of it is rolled back.
     *
     * @throws RelayDatabaseException from the work too; nothing was done, except after {@link Kind#UNREADABLE}: then it
     *     is unknown, every further transaction fails, and a restart finds out
     */
    public synchronized <T, X extends Exception> T transact(RelayTransaction.TransactionWork<T, X> work)
            throws RelayDatabaseException, X {
        sql.startTransaction();
        boolean done = false;
        try {
            T result = work.run(transaction);
            sql.commit();
            done = true;
            return result;
        } catch (RelayDatabaseException e) {
            if (sql.isDoubtful()) {
                fatal.abort(String.valueOf(e.getMessage()));
            }
            throw e;
        } finally {
            if (!done) {
                sql.rollback();
            }
        }
    }

    @Override
    public synchronized void close() {
        sql.close();
    }
}
