package org.cloister.relay.state;

import java.util.Optional;
import java.util.regex.Pattern;

/** Stores small values that persist across restarts of the relay, such as whether it drains. */
public final class PersistentValues {
    /** Names with a dot are reserved for this package. */
    private static final Pattern NAME = Pattern.compile("[a-z][a-z-]{0,62}");

    private final SqlSession sql;

    PersistentValues(SqlSession sql) {
        this.sql = sql;
    }

    public Optional<String> get(String name) throws RelayDatabaseException {
        return value(required(name));
    }

    public void set(String name, String value) throws RelayDatabaseException {
        store(required(name), value);
    }

    public void clear(String name) throws RelayDatabaseException {
        sql.update("DELETE FROM mark WHERE name = ?", required(name));
    }

    Optional<String> value(String name) throws RelayDatabaseException {
        return sql.first(columns -> columns.getString(1), "SELECT value FROM mark WHERE name = ?", name);
    }

    long number(String name) throws RelayDatabaseException {
        return Long.parseLong(value(name).orElse("0"));
    }

    void store(String name, String value) throws RelayDatabaseException {
        sql.update(
                "INSERT INTO mark (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                name,
                value);
    }

    private static String required(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("mark: want " + NAME + ", have " + name);
        }
        return name;
    }
}
