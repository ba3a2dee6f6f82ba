package org.cloister.relay.tickets;

import io.netty.util.concurrent.Future;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.fairness.ByteQuota;
import org.cloister.relay.fairness.FairExecutor;
import org.cloister.relay.fairness.FairQueue;
import org.cloister.relay.fairness.KeyedLimit;
import org.cloister.relay.fairness.LaneLimits;

/**
 * What parties share of the relay, by who pays: a project for its devices and controlling VMs, a host for itself. Turns at the
 * checks, bytes that wait to be written, streams. From any thread.
 */
public final class TicketStreamLimits implements AutoCloseable {
    /** Signatures are checked on so many threads. */
    private static final int THREADS = 2;
    /** Streams bound it already: each has one message here at most. */
    private static final int WAITING = 65_536;

    private final FairExecutor<String> checks;
    private final ByteQuota unwritten = new ByteQuota(
            ProtocolLimits.UNWRITTEN_PROJECT_BYTES, ProtocolLimits.UNWRITTEN_ALL_BYTES, ProtocolLimits.UNWRITTEN_BYTES);
    private final KeyedLimit parties = new KeyedLimit(ProtocolLimits.TICKET_STREAMS);
    private final KeyedLimit payers = new KeyedLimit(ProtocolLimits.PROJECT_STREAMS);
    private final TicketMetrics metrics;

    /** Starts the checks' threads. */
    public TicketStreamLimits(TicketMetrics metrics) {
        this(metrics, THREADS);
    }

    TicketStreamLimits(TicketMetrics metrics, int threads) {
        this.metrics = metrics;
        LaneLimits each = new LaneLimits(
                2 * ProtocolLimits.PROJECT_STREAMS,
                ProtocolLimits.PROJECT_AT_ONCE,
                ProtocolLimits.PROJECT_WORK,
                ProtocolLimits.PROJECT_BURST);
        this.checks = new FairExecutor<>(
                "ticket-check", threads, new FairQueue<>(WAITING, MessageCost.DEAREST, payer -> each), false);
    }

    FairExecutor<String> checks() {
        return checks;
    }

    ByteQuota unwritten() {
        return unwritten;
    }

    TicketMetrics metrics() {
        return metrics;
    }

    /** Whether a party may have one more stream; then it has it until {@code closed}. */
    boolean acquireStream(String party, Future<?> closed) {
        return count(parties, party, closed);
    }

    /** The same for who pays for it. */
    boolean acquirePayerStream(String payer, Future<?> closed) {
        return count(payers, payer, closed);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the listener sees it
    private boolean count(KeyedLimit seats, String key, Future<?> closed) {
        if (!seats.tryAcquire(key)) {
            metrics.streamsRefused.inc();
            return false;
        }
        closed.addListener(done -> seats.release(key));
        return true;
    }

    /** Bytes of answers and news that wait to be written, to all: for a metric. */
    public int unwrittenBytes() {
        return (int) Math.min(Integer.MAX_VALUE, unwritten.reserved());
    }

    /** Messages that wait to be checked: for a metric. */
    public int waiting() {
        return checks.waiting();
    }

    @Override
    public void close() {
        checks.close();
    }
}
