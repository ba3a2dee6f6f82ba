package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.base.address.Ipv4Network;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.ticket.TicketPosition;

/** Rows that tests of the state write. */
final class StateSamples {
    static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    static final String PROJECT = "p".repeat(51) + "a";
    static final String OTHER = "q".repeat(51) + "a";
    static final byte[] ENVELOPE = "an envelope".getBytes(StandardCharsets.UTF_8);
    static final byte[] CHAIN = "a chain".getBytes(StandardCharsets.UTF_8);

    /** Small enough to be used up: four VLANs with five workers each. */
    static final NetworkPool SMALL =
            new NetworkPool(Ipv4Network.parse("10.64.0.0/16"), 29, 100, 104, Set.of(102), Duration.ofSeconds(60));

    private StateSamples() {}

    static TicketRequest request(String id, String project, long number) {
        return request(id, project, new TicketPosition(1, number), 1);
    }

    static TicketRequest request(String id, String project, TicketPosition sequence, int nodes) {
        return new TicketRequest(
                id,
                project,
                "vm1.controller." + project + ".cloister.internal",
                Digest.sha256(id.getBytes(StandardCharsets.UTF_8)),
                sequence,
                nodes,
                nodes * 4L,
                nodes * 1024L,
                "astro",
                NOON,
                Optional.empty());
    }

    static TicketRequest opening(String id, String project, long epoch) {
        return new TicketRequest(
                id,
                project,
                "eve.opener." + project + ".cloister.internal",
                Digest.sha256(id.getBytes(StandardCharsets.UTF_8)),
                new TicketPosition(epoch, 0),
                1,
                4,
                1024,
                "astro",
                NOON,
                Optional.of("main"));
    }

    static void insert(RelayDatabase state, TicketRequest request)
            throws RelayDatabaseException, StateConflictException {
        state.<Boolean, StateConflictException>transact(transaction -> {
            transaction.tickets().insert(request, ENVELOPE, CHAIN);
            return true;
        });
    }

    static NetworkLease allocate(RelayDatabase state, String id, String project, int slots)
            throws RelayDatabaseException, PoolExhaustedException {
        return state.transact(transaction -> transaction.numbers().allocate(id, project, slots));
    }

    static boolean is(RelayDatabase state, RelayTransaction.TransactionWork<Boolean, RuntimeException> work)
            throws RelayDatabaseException {
        return state.transact(work);
    }

    static long number(RelayDatabase state, RelayTransaction.TransactionWork<? extends Number, RuntimeException> work)
            throws RelayDatabaseException {
        return state.transact(work).longValue();
    }

    static <T> List<T> list(RelayDatabase state, RelayTransaction.TransactionWork<List<T>, RuntimeException> work)
            throws RelayDatabaseException {
        return state.transact(work);
    }

    static <T> Optional<T> maybe(
            RelayDatabase state, RelayTransaction.TransactionWork<Optional<T>, RuntimeException> work)
            throws RelayDatabaseException {
        return state.transact(work);
    }

    static TicketRow row(RelayDatabase state, String id) throws RelayDatabaseException {
        return state.transact(transaction -> transaction.tickets().byId(id)).orElseThrow();
    }

    /** Time stands still until a test moves it. */
    static RelayDatabase open(Path file, NetworkPool pool, AtomicLong nanos) throws RelayDatabaseException {
        return RelayDatabase.open(file, pool, SqlDialect.SQLITE, nanos::get);
    }

    static void pass(AtomicLong nanos, Duration time) {
        assertThat(nanos.addAndGet(time.toNanos())).isPositive();
    }
}
