package org.cloister.relay.state;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** What hosts did with a ticket's slots: one claim a slot, and one part of the receipt from each signer. */
public final class Slots {
    /** @param host dNSName */
    public record Claim(int slot, String host) {}

    private final Sql sql;

    Slots(Sql sql) {
        this.sql = sql;
    }

    /** @return the host that has the slot: this one, or the one that was first */
    public String claim(String ticket, int slot, String host) throws StateException {
        sql.update(
                "INSERT INTO claim (ticket, slot, host) VALUES (?, ?, ?) ON CONFLICT (ticket, slot) DO NOTHING",
                ticket,
                slot,
                host);
        Optional<String> first = sql.first(
                columns -> columns.getString(1), "SELECT host FROM claim WHERE ticket = ? AND slot = ?", ticket, slot);
        return first.orElseThrow();
    }

    public List<Claim> claims(String ticket) throws StateException {
        return sql.list(
                columns -> new Claim(columns.getInt(1), columns.getString(2)),
                "SELECT slot, host FROM claim WHERE ticket = ? ORDER BY slot",
                ticket);
    }

    /**
     * @param signer its key's id
     * @param envelope DSSE
     * @return whether it is this signer's first one; a later one is not kept
     */
    public boolean addPart(String ticket, String signer, byte[] envelope) throws StateException {
        return sql.update("""
                        INSERT INTO receipt_part (ticket, signer, envelope) VALUES (?, ?, ?)
                        ON CONFLICT (ticket, signer) DO NOTHING""", ticket, signer, envelope) == 1;
    }

    /** DSSE envelopes by the id of the key that signed them. */
    public SortedMap<String, byte[]> parts(String ticket) throws StateException {
        SortedMap<String, byte[]> parts = new TreeMap<>();
        sql.list(
                        columns -> Map.entry(columns.getString(1), columns.getBytes(2)),
                        "SELECT signer, envelope FROM receipt_part WHERE ticket = ?",
                        ticket)
                .forEach(part -> parts.put(part.getKey(), part.getValue()));
        return parts;
    }
}
