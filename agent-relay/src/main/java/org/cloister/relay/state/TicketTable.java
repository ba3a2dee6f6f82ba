package org.cloister.relay.state;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketPosition;
import org.cloister.protocol.ticket.TicketState;
import org.jspecify.annotations.Nullable;

/**
 * Stores tickets and openings: open ones, and ended ones for {@link #KEPT}. A setter returns whether it changed
 * anything: nothing changes a ticket that has ended or returns it to an earlier state.
 */
public final class TicketTable {
    /** Time for which an ended ticket is kept unless the site configures another. */
    public static final Duration KEPT = Duration.ofDays(30);

    private static final String COLUMNS = """
            SELECT id, project, controller, digest, epoch, number, nodes, cpus, memory_mib, account, accepted, state,
            withdrawn, submitting, job, node_names, allocation IS NOT NULL, outcome, reason, ended, drive
            FROM ticket\s""";

    private final SqlSession sql;

    TicketTable(SqlSession sql) {
        this.sql = sql;
    }

    /**
     * Records a ticket or an opening as accepted.
     *
     * @param envelope DSSE, as it was received
     * @param chain the signer's certificates, as they were received
     * @throws DuplicateTicketException if a ticket of its id exists; checked first, so that a repeated ticket is
     *     recognised
     * @throws TicketSequenceException if it does not follow all earlier ones of its project, including deleted ones
     */
    public void insert(TicketRequest request, byte[] envelope, byte[] chain)
            throws RelayDatabaseException, DuplicateTicketException, TicketSequenceException {
        Optional<TicketRow> duplicate = byId(request.id());
        if (duplicate.isPresent()) {
            throw duplicate(request, duplicate.get().request());
        }
        if (request.isOpening()) {
            advanceOpening(request.project(), request.position());
        } else {
            advance(request.project(), request.position());
        }
        int rows = sql.update(
                """
                INSERT INTO ticket (id, project, controller, digest, envelope, chain, epoch, number, nodes, cpus,
                memory_mib, account, accepted, drive, state, withdrawn)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'accepted', 0) ON CONFLICT (id) DO NOTHING""",
                request.id(),
                request.project(),
                request.signer(),
                request.digest().hex(),
                envelope,
                chain,
                request.position().epoch(),
                request.position().sequence(),
                request.nodes(),
                request.cpus(),
                request.memoryMib(),
                request.account(),
                request.accepted().toEpochMilli(),
                request.drive().orElse(null));
        if (rows == 0) {
            throw duplicate(request, byId(request.id()).orElseThrow().request());
        }
    }

    private static DuplicateTicketException duplicate(TicketRequest request, TicketRequest first) {
        boolean same =
                first.digest().equals(request.digest()) && first.project().equals(request.project());
        return new DuplicateTicketException(request.id(), same);
    }

    private void advance(String project, TicketPosition position)
            throws RelayDatabaseException, TicketSequenceException {
        String advance = """
                INSERT INTO project_sequence (project, epoch, number) VALUES (?, ?, ?)
                ON CONFLICT (project) DO UPDATE SET epoch = excluded.epoch, number = excluded.number
                WHERE (project_sequence.epoch, project_sequence.number) < (excluded.epoch, excluded.number)""";
        int rows = sql.update(advance, project, position.epoch(), position.sequence());
        if (rows == 0) {
            throw new TicketSequenceException(
                    project, position, highest(project).orElseThrow());
        }
    }

    private void advanceOpening(String project, TicketPosition position)
            throws RelayDatabaseException, TicketSequenceException {
        int rows = sql.update("""
                INSERT INTO project_opening (project, epoch) VALUES (?, ?)
                ON CONFLICT (project) DO UPDATE SET epoch = excluded.epoch
                WHERE project_opening.epoch < excluded.epoch""", project, position.epoch());
        if (rows == 0) {
            throw new TicketSequenceException(project, position, new TicketPosition(highestOpening(project), 0));
        }
    }

    /** Returns the highest epoch of all openings that the project ever had here; 0 if it had none. */
    public long highestOpening(String project) throws RelayDatabaseException {
        return sql.number("SELECT epoch FROM project_opening WHERE project = ?", project);
    }

    /** Returns the highest position of all tickets that the project ever had here. */
    public Optional<TicketPosition> highest(String project) throws RelayDatabaseException {
        return sql.first(
                columns -> new TicketPosition(columns.getLong(1), columns.getLong(2)),
                "SELECT epoch, number FROM project_sequence WHERE project = ?",
                project);
    }

    /** Returns the sum of the requests of open tickets and openings. */
    public QuotaUsage usage(String project) throws RelayDatabaseException {
        return usage(project, "");
    }

    /** Returns the same sum without openings. */
    public QuotaUsage usageOfTickets(String project) throws RelayDatabaseException {
        return usage(project, " AND drive IS NULL");
    }

    private QuotaUsage usage(String project, String which) throws RelayDatabaseException {
        return sql.first(
                        columns -> new QuotaUsage(
                                columns.getLong(1),
                                columns.getLong(2),
                                columns.getLong(3),
                                columns.getLong(4),
                                // Each node has one VM.
                                columns.getLong(2)),
                        """
                        SELECT COUNT(*), SUM(nodes), SUM(cpus), SUM(memory_mib) FROM ticket
                        WHERE project = ? AND state <> 'ended'""" + which,
                        project)
                .orElseThrow();
    }

    public Optional<TicketRow> byId(String id) throws RelayDatabaseException {
        return sql.first(TicketTable::row, COLUMNS + "WHERE id = ?", id);
    }

    /** Returns all open tickets and openings, in the order in which they were accepted. */
    public List<TicketRow> open() throws RelayDatabaseException {
        return sql.list(TicketTable::row, COLUMNS + "WHERE state <> 'ended' ORDER BY accepted, epoch, number");
    }

    /** Returns the project's open openings, the earliest first. */
    public List<TicketRow> openOpenings(String project) throws RelayDatabaseException {
        return sql.list(
                TicketTable::row,
                COLUMNS + "WHERE project = ? AND state <> 'ended' AND drive IS NOT NULL ORDER BY epoch",
                project);
    }

    /** Returns the project's openings, including ended ones, the newest first. */
    public List<TicketRow> newestOpenings(String project, int limit) throws RelayDatabaseException {
        return sql.list(
                TicketTable::row,
                COLUMNS + "WHERE project = ? AND drive IS NOT NULL ORDER BY epoch DESC LIMIT ?",
                project,
                limit);
    }

    /** Number of accepted tickets and openings of a project and of their nodes, including ended ones. */
    public record AcceptedTotals(String project, long tickets, long nodes) {}

    public List<AcceptedTotals> acceptedSince(Instant when) throws RelayDatabaseException {
        return sql.list(
                columns -> new AcceptedTotals(columns.getString(1), columns.getLong(2), columns.getLong(3)),
                "SELECT project, COUNT(*), SUM(nodes) FROM ticket WHERE accepted >= ? GROUP BY project",
                when.toEpochMilli());
    }

    /** Returns the ended tickets of all projects, the earliest end first. */
    public List<TicketRow> endedSince(Instant when, int limit) throws RelayDatabaseException {
        return sql.list(
                TicketTable::row,
                COLUMNS + "WHERE state = 'ended' AND ended >= ? ORDER BY ended, id LIMIT ?",
                when.toEpochMilli(),
                limit);
    }

    /** Returns the DSSE envelope of the ticket or opening. */
    public Optional<byte[]> envelope(String id) throws RelayDatabaseException {
        return sql.first(columns -> columns.getBytes(1), "SELECT envelope FROM ticket WHERE id = ?", id);
    }

    /** Returns the newest certificates of its signer. */
    public Optional<byte[]> chain(String id) throws RelayDatabaseException {
        return sql.first(columns -> columns.getBytes(1), "SELECT chain FROM ticket WHERE id = ?", id);
    }

    /** Stores newer certificates of the same key. */
    public boolean updateChain(String id, byte[] chain) throws RelayDatabaseException {
        return changed("chain = ? WHERE id = ? AND state <> 'ended'", chain, id);
    }

    /** Stores the same ticket in another envelope, with the certificates of the key that signed that envelope. */
    public boolean replaceEnvelope(String id, byte[] envelope, byte[] chain) throws RelayDatabaseException {
        return changed("envelope = ?, chain = ? WHERE id = ? AND state <> 'ended'", envelope, chain, id);
    }

    /** Returns the relay's signed allocation. */
    public Optional<byte[]> allocation(String id) throws RelayDatabaseException {
        return sql.first(
                columns -> columns.getBytes(1),
                "SELECT allocation FROM ticket WHERE id = ? AND allocation IS NOT NULL",
                id);
    }

    /**
     * Records that the ticket is about to be submitted; called before each try, since the Global Slurm may have the job
     * from then on.
     */
    public boolean recordSubmission(String id, Instant when) throws RelayDatabaseException {
        return changed("submitting = ? WHERE id = ? AND state IN ('accepted', 'queued')", when.toEpochMilli(), id);
    }

    /**
     * Records the ticket's job in the Global Slurm.
     *
     * @param job another job if Slurm lost the first before it had nodes
     */
    public boolean recordQueued(String id, long job) throws RelayDatabaseException {
        return changed(
                "state = 'queued', job = ? WHERE id = ? AND (state = 'accepted' OR state = 'queued' AND job <> ?)",
                job,
                id,
                job);
    }

    /**
     * Records that the ticket's job has nodes.
     *
     * @param nodes the Global Slurm's names, in the order of slots
     */
    public boolean recordRunning(String id, long job, List<String> nodes) throws RelayDatabaseException {
        return changed(
                "state = 'running', job = ?, node_names = ? WHERE id = ? AND state IN ('accepted', 'queued')",
                job,
                String.join(",", nodes),
                id);
    }

    /**
     * Stores the ticket's allocation.
     *
     * @param envelope DSSE; it is stored once and never replaced, because hosts may already have it
     */
    public boolean recordAllocation(String id, byte[] envelope) throws RelayDatabaseException {
        return changed("allocation = ? WHERE id = ? AND state = 'running' AND allocation IS NULL", envelope, id);
    }

    public boolean recordWithdrawal(String id) throws RelayDatabaseException {
        return changed("withdrawn = 1 WHERE id = ? AND state <> 'ended' AND withdrawn = 0", id);
    }

    /**
     * Records the end. The caller releases the addresses with {@link NetworkAllocator#release} in the same transaction.
     */
    public boolean recordEnd(String id, TicketEnd end, String text, Instant when) throws RelayDatabaseException {
        return changed(
                "state = 'ended', outcome = ?, reason = ?, ended = ? WHERE id = ? AND state <> 'ended'",
                end.toString(),
                text,
                when.toEpochMilli(),
                id);
    }

    /**
     * Deletes tickets that ended before {@code when} and hold no address; {@link #highest} remains, so that none of
     * them is accepted again.
     *
     * @param limit maximum number per call, because other work waits for it
     * @return the number of deleted tickets
     */
    public int forget(Instant when, int limit) throws RelayDatabaseException {
        String delete = """
                DELETE FROM ticket WHERE id IN (
                  SELECT id FROM ticket WHERE state = 'ended' AND ended < ?
                  AND NOT EXISTS (SELECT 1 FROM address WHERE address.ticket = ticket.id)
                  ORDER BY ended, id LIMIT ?)""";
        return sql.update(delete, when.toEpochMilli(), limit);
    }

    private boolean changed(String change, Object... values) throws RelayDatabaseException {
        return sql.update("UPDATE ticket SET " + change, values) == 1;
    }

    private static TicketRow row(ResultSet columns) throws SQLException {
        TicketRequest request = new TicketRequest(
                columns.getString(1),
                columns.getString(2),
                columns.getString(3),
                new Digest(Digest.Algorithm.SHA256, columns.getString(4)),
                new TicketPosition(columns.getLong(5), columns.getLong(6)),
                columns.getInt(7),
                columns.getLong(8),
                columns.getLong(9),
                columns.getString(10),
                Instant.ofEpochMilli(columns.getLong(11)),
                Optional.ofNullable(columns.getString(21)));
        long job = columns.getLong(15);
        OptionalLong known = columns.wasNull() ? OptionalLong.empty() : OptionalLong.of(job);
        String nodes = columns.getString(16);
        String outcome = columns.getString(18);
        return new TicketRow(
                request,
                TicketState.of(columns.getString(12)).orElseThrow(),
                columns.getInt(13) == 1,
                time(columns, 14),
                known,
                nodes == null ? List.of() : List.of(nodes.split(",", -1)),
                columns.getBoolean(17),
                outcome == null ? null : TicketEnd.of(outcome).orElseThrow(),
                columns.getString(19),
                time(columns, 20));
    }

    private static @Nullable Instant time(ResultSet columns, int column) throws SQLException {
        long millis = columns.getLong(column);
        return columns.wasNull() ? null : Instant.ofEpochMilli(millis);
    }
}
