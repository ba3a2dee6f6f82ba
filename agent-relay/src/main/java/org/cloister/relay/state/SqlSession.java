package org.cloister.relay.state;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.relay.state.RelayDatabaseException.Kind;
import org.jspecify.annotations.Nullable;

/** Database connection that caches its prepared statements and reports errors with a remedy. Not thread-safe. */
final class SqlSession implements AutoCloseable {
    /** Converts a row of a result. */
    @FunctionalInterface
    interface RowReader<T> {
        T of(ResultSet columns) throws SQLException;
    }

    private final Path file;
    private final SqlDialect dialect;
    private final Connection connection;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();
    private boolean started;
    private boolean doubtful;

    private SqlSession(Path file, SqlDialect dialect, Connection connection) {
        this.file = file;
        this.dialect = dialect;
        this.connection = connection;
    }

    static SqlSession connect(Path file, SqlDialect dialect) throws RelayDatabaseException {
        try {
            SqlSession sql = new SqlSession(file, dialect, DriverManager.getConnection(dialect.url(file)));
            try {
                for (String each : dialect.opening()) {
                    sql.execute(each);
                }
                return sql;
            } catch (RelayDatabaseException e) {
                sql.close();
                throw e;
            }
        } catch (SQLException e) {
            throw new RelayDatabaseException(file, dialect.failureKind(e), String.valueOf(e.getMessage()), e);
        }
    }

    void startTransaction() throws RelayDatabaseException {
        if (started) {
            throw new IllegalStateException("a transaction is open already");
        }
        if (doubtful) {
            throw new RelayDatabaseException(
                    file, Kind.UNREADABLE, "it is unknown whether the last commit is on disk", null);
        }
        execute(dialect.begin());
        started = true;
    }

    /**
     * Commits. After a failure that leaves it unknown whether the transaction is on disk, no transaction can start
     * until the file is opened again.
     */
    void commit() throws RelayDatabaseException {
        try {
            execute("COMMIT");
            started = false;
        } catch (RelayDatabaseException e) {
            doubtful = e.failure() == Kind.UNREADABLE || e.failure() == Kind.CORRUPT;
            throw e;
        }
    }

    boolean isDoubtful() {
        return doubtful;
    }

    void rollback() {
        started = false;
        try {
            execute("ROLLBACK");
        } catch (RelayDatabaseException e) {
            // Some failures have already ended the transaction. If it is still open, the next one cannot start and
            // reports that.
        }
    }

    /** Executes a statement that is not cached. */
    void execute(String text) throws RelayDatabaseException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(text);
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /**
     * Executes a statement that changes rows.
     *
     * @return the number of changed rows
     */
    int update(String text, @Nullable Object... values) throws RelayDatabaseException {
        try {
            return bound(text, values).executeUpdate();
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    <T> List<T> list(RowReader<T> row, String text, @Nullable Object... values) throws RelayDatabaseException {
        List<T> all = new ArrayList<>();
        try (ResultSet answer = bound(text, values).executeQuery()) {
            while (answer.next()) {
                all.add(row.of(answer));
            }
            return all;
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    <T> Optional<T> first(RowReader<T> row, String text, @Nullable Object... values) throws RelayDatabaseException {
        return list(row, text, values).stream().findFirst();
    }

    /** Returns the number in the first column of the first row; 0 if there is no row. */
    long number(String text, @Nullable Object... values) throws RelayDatabaseException {
        return first(columns -> columns.getLong(1), text, values).orElse(0L);
    }

    RelayDatabaseException failure(Kind failure, String detail) {
        return new RelayDatabaseException(file, failure, detail, null);
    }

    SqlDialect dialect() {
        return dialect;
    }

    /** Returns the names of the existing tables. */
    List<String> tables() throws RelayDatabaseException {
        List<String> names = new ArrayList<>();
        try (ResultSet tables = connection.getMetaData().getTables(null, null, "%", new String[] {"TABLE"})) {
            while (tables.next()) {
                names.add(tables.getString("TABLE_NAME"));
            }
            return names;
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    private PreparedStatement bound(String text, @Nullable Object... values) throws SQLException {
        if (!started) {
            throw new IllegalStateException("the transaction has ended");
        }
        PreparedStatement statement = prepared.get(text);
        if (statement == null) {
            statement = connection.prepareStatement(text);
            prepared.put(text, statement);
        }
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private RelayDatabaseException failure(SQLException e) {
        return new RelayDatabaseException(file, dialect.failureKind(e), String.valueOf(e.getMessage()), e);
    }

    @Override
    public void close() {
        try {
            for (PreparedStatement each : prepared.values()) {
                each.close();
            }
            connection.close();
        } catch (SQLException e) {
            // Committed data is on disk; closing only truncates the log, and the next opening does that as well.
        }
    }
}
