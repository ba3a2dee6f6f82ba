package org.cloister.relay.state;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.function.LongSupplier;
import org.cloister.daemon.Fatal;
import org.cloister.relay.state.StateException.Trouble;

/** The relay's database, open. Work is done in transactions, one at a time; each that returned is on the disk. */
public final class State implements AutoCloseable {
    private final Sql sql;
    private final Transaction transaction;
    private final Fatal fatal;

    private State(Sql sql, NetworkPool pool, RunningTime time, Fatal fatal) {
        this.sql = sql;
        this.fatal = fatal;
        this.transaction = new Transaction(sql, new Numbers(sql, pool, time));
    }

    /** For a process that ends soon anyway. */
    public static State open(Path file, NetworkPool pool) throws StateException {
        return open(file, pool, why -> {});
    }

    /**
     * Opens the file for this process alone, makes it if there is none, checks it, and brings it to this release's
     * version.
     *
     * @param fatal ends the process when a transaction may be on disk or not, which the next opening finds out
     */
    public static State open(Path file, NetworkPool pool, Fatal fatal) throws StateException {
        return open(file, pool, Dialect.SQLITE, System::nanoTime, fatal);
    }

    static State open(Path file, NetworkPool pool, Dialect dialect, LongSupplier nanoTime) throws StateException {
        return open(file, pool, dialect, nanoTime, why -> {});
    }

    private static State open(Path file, NetworkPool pool, Dialect dialect, LongSupplier nanoTime, Fatal fatal)
            throws StateException {
        create(file);
        Sql sql = Sql.connect(file, dialect);
        boolean done = false;
        try {
            Schema.migrate(sql);
            sql.begin();
            check(sql);
            RunningTime time = RunningTime.resume(sql, new Marks(sql), nanoTime);
            new Plan(sql, pool).fit(time);
            sql.commit();
            done = true;
            return new State(sql, pool, time, fatal);
        } finally {
            if (!done) {
                sql.rollback();
                sql.close();
            }
        }
    }

    /** For nobody else to read, whatever the process's mask is; SQLite gives its log the same rights. */
    private static void create(Path file) throws StateException {
        for (Path each : List.of(file, file.toAbsolutePath().resolveSibling(""))) {
            // SQLite opens what it may only read, and fails later with words about locks.
            if (Files.exists(each) && !Files.isWritable(each)) {
                throw new StateException(file, Trouble.READ_ONLY, each + " may only be read", null);
            }
        }
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException e) {
            return;
        } catch (IOException e) {
            throw new StateException(file, Trouble.READ_ONLY, "cannot be made: " + e, e);
        }
    }

    private static void check(Sql sql) throws StateException {
        List<String> found =
                sql.list(columns -> columns.getString(1), sql.dialect().check());
        if (!found.equals(List.of("ok"))) {
            throw sql.trouble(Trouble.CORRUPT, String.join(", ", found));
        }
    }

    /**
     * Carries out the work and commits it. Whatever it throws, nothing of it is left.
     *
     * @throws StateException the work's own too; nothing was done, save after {@link Trouble#UNREADABLE}: then it is
     *     unknown, every further transaction fails, and a restart finds out
     */
    public synchronized <T, X extends Exception> T transact(Work<T, X> work) throws StateException, X {
        sql.begin();
        boolean done = false;
        try {
            T result = work.in(transaction);
            sql.commit();
            done = true;
            return result;
        } catch (StateException e) {
            if (sql.isDoubtful()) {
                fatal.end(String.valueOf(e.getMessage()));
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
