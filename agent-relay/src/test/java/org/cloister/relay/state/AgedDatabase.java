package org.cloister.relay.state;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;

/** A relay's records as they are after a time for which no test waits. */
public final class AgedDatabase {
    private AgedDatabase() {}

    /** @param database of a relay that does not run */
    public static void accepted(Path database, String ticket, Instant when) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + database);
                PreparedStatement change = connection.prepareStatement("UPDATE ticket SET accepted = ? WHERE id = ?")) {
            change.setLong(1, when.toEpochMilli());
            change.setString(2, ticket);
            if (change.executeUpdate() != 1) {
                throw new SQLException("ticket " + ticket + ": want one row, have none");
            }
        }
    }
}
