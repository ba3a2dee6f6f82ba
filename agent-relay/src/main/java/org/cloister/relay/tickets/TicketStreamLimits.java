package org.cloister.relay.tickets;

import io.netty.util.concurrent.Future;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.fairness.ByteQuota;
import org.cloister.relay.fairness.FairExecutor;
import org.cloister.relay.fairness.FairQueue;
import org.cloister.relay.fairness.KeyedLimit;
import org.cloister.relay.fairness.LaneLimits;

/**
 * Limits what peers use of the relay, by payer: a project pays for its devices and controlling VMs, a host for
 * itself. The limits concern turns at the checks, bytes that wait to be written, and streams. Thread-safe.
 */
public final class TicketStreamLimits implements AutoCloseable {
    /** Number of threads that verify signatures. */
    private static final int THREADS = 2;
    /**
     * Maximum number of waiting messages. The number of streams bounds it already: each has at most one message here.
     */
    private static final int WAITING = 65_536;

    private final FairExecutor<String> checks;
    private final ByteQuota unwritten = new ByteQuota(
            ProtocolLimits.UNWRITTEN_PROJECT_BYTES, ProtocolLimits.UNWRITTEN_ALL_BYTES, ProtocolLimits.UNWRITTEN_BYTES);
    private final KeyedLimit peerLimit = new KeyedLimit(ProtocolLimits.TICKET_STREAMS);
    private final KeyedLimit payerLimit = new KeyedLimit(ProtocolLimits.PROJECT_STREAMS);
    private final TicketMetrics metrics;

    /** Starts the threads of the checks. */
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
                "ticket-check", threads, new FairQueue<>(WAITING, MessageCost.HIGHEST, payer -> each), false);
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

    /** Acquires a stream for a peer until {@code closed}; returns false if it has reached its limit. */
    boolean acquireStream(String peer, Future<?> closed) {
        return count(peerLimit, peer, closed);
    }

    /** Acquires a stream for a payer until {@code closed}; returns false if it has reached its limit. */
    boolean acquirePayerStream(String payer, Future<?> closed) {
        return count(payerLimit, payer, closed);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the listener releases it
    private boolean count(KeyedLimit limit, String key, Future<?> closed) {
        if (!limit.tryAcquire(key)) {
            metrics.streamsRefused.inc();
            return false;
        }
        closed.addListener(done -> limit.release(key));
        return true;
    }

    /** Returns the bytes of answers and updates that wait to be written to all peers, for a metric. */
    public int unwrittenBytes() {
        return (int) Math.min(Integer.MAX_VALUE, unwritten.reserved());
    }

    /** Returns the number of messages that wait to be checked, for a metric. */
    public int waiting() {
        return checks.waiting();
    }

    @Override
    public void close() {
        checks.close();
    }
}
