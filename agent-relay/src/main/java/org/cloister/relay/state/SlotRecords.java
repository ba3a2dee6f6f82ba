package org.cloister.relay.state;

import com.google.protobuf.ByteString;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Records what hosts did with a ticket's slots: one claim per slot, and one statement of the receipt per signer. */
public final class SlotRecords {
    /**
     * Host's claim of a slot.
     *
     * @param host dNSName
     * @param since null if an earlier version of the relay recorded it
     */
    public record Claim(int slot, String host, @Nullable Instant since) {}

    /**
     * Host's statement for the receipt.
     *
     * @param envelope DSSE
     * @param chain the host's certificate chain, encoded as {@code TicketRecords} does; empty if an earlier version of
     *     the relay recorded it
     */
    public record StoredStatement(ByteString envelope, ByteString chain) {}

    private final SqlSession sql;

    SlotRecords(SqlSession sql) {
        this.sql = sql;
    }

    /**
     * Records a claim unless the slot has one.
     *
     * @return the host that has the slot: this one, or the one that was first
     */
    public String claim(String ticket, int slot, String host, Instant now) throws RelayDatabaseException {
        sql.update("""
                INSERT INTO claim (ticket, slot, host, since) VALUES (?, ?, ?, ?)
                ON CONFLICT (ticket, slot) DO NOTHING""", ticket, slot, host, now.toEpochMilli());
        Optional<String> first = sql.first(
                columns -> columns.getString(1), "SELECT host FROM claim WHERE ticket = ? AND slot = ?", ticket, slot);
        return first.orElseThrow();
    }

    public List<Claim> claims(String ticket) throws RelayDatabaseException {
        return sql.list(
                columns -> new Claim(columns.getInt(1), columns.getString(2), since(columns)),
                "SELECT slot, host, since FROM claim WHERE ticket = ? ORDER BY slot",
                ticket);
    }

    /**
     * Stores a signer's statement.
     *
     * @param signer id of the signing key
     * @param envelope DSSE
     * @param chain the signer's certificates
     * @return whether it is this signer's first statement; a later one is not stored
     */
    public boolean addStatement(String ticket, String signer, byte[] envelope, byte[] chain)
            throws RelayDatabaseException {
        return sql.update("""
                        INSERT INTO receipt_part (ticket, signer, envelope, chain) VALUES (?, ?, ?, ?)
                        ON CONFLICT (ticket, signer) DO NOTHING""", ticket, signer, envelope, chain) == 1;
    }

    /** Returns the statements by the id of the key that signed them. */
    public SortedMap<String, StoredStatement> statements(String ticket) throws RelayDatabaseException {
        SortedMap<String, StoredStatement> parts = new TreeMap<>();
        sql.list(
                        columns -> Map.entry(
                                columns.getString(1), new StoredStatement(bytes(columns, 2), bytes(columns, 3))),
                        "SELECT signer, envelope, chain FROM receipt_part WHERE ticket = ?",
                        ticket)
                .forEach(part -> parts.put(part.getKey(), part.getValue()));
        return parts;
    }

    private static ByteString bytes(ResultSet columns, int column) throws SQLException {
        byte[] bytes = columns.getBytes(column);
        return bytes == null ? ByteString.EMPTY : ByteString.copyFrom(bytes);
    }

    private static @Nullable Instant since(ResultSet columns) throws SQLException {
        long millis = columns.getLong(3);
        return columns.wasNull() ? null : Instant.ofEpochMilli(millis);
    }
}
