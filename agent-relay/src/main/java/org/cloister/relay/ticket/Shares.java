package org.cloister.relay.ticket;

import io.netty.util.concurrent.Future;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.relay.fair.Bytes;
import org.cloister.relay.fair.FairQueue;
import org.cloister.relay.fair.FairThreads;
import org.cloister.relay.fair.LaneLimits;
import org.cloister.relay.fair.Seats;

/**
 * What parties share of the relay, by who pays: a project for its devices and controlling VMs, a host for itself. Turns at the
 * checks, bytes that wait to be written, streams. From any thread.
 */
public final class Shares implements AutoCloseable {
    /** Signatures are checked on so many threads. */
    private static final int THREADS = 2;
    /** Streams bound it already: each has one message here at most. */
    private static final int WAITING = 65_536;

    private final FairThreads<String> checks;
    private final Bytes unwritten =
            new Bytes(LinkLimits.UNWRITTEN_PROJECT_BYTES, LinkLimits.UNWRITTEN_ALL_BYTES, LinkLimits.UNWRITTEN_BYTES);
    private final Seats parties = new Seats(LinkLimits.TICKET_STREAMS);
    private final Seats payers = new Seats(LinkLimits.PROJECT_STREAMS);
    private final OfficeMetrics metrics;

    /** Starts the checks' threads. */
    public Shares(OfficeMetrics metrics) {
        this(metrics, THREADS);
    }

    Shares(OfficeMetrics metrics, int threads) {
        this.metrics = metrics;
        LaneLimits each = new LaneLimits(
                2 * LinkLimits.PROJECT_STREAMS,
                LinkLimits.PROJECT_AT_ONCE,
                LinkLimits.PROJECT_WORK,
                LinkLimits.PROJECT_BURST);
        this.checks = new FairThreads<>(
                "ticket-check", threads, new FairQueue<>(WAITING, Price.DEAREST, payer -> each), false);
    }

    FairThreads<String> checks() {
        return checks;
    }

    Bytes unwritten() {
        return unwritten;
    }

    OfficeMetrics metrics() {
        return metrics;
    }

    /** Whether a party may have one more stream; then it has it until {@code closed}. */
    boolean enter(String party, Future<?> closed) {
        return count(parties, party, closed);
    }

    /** The same for who pays for it. */
    boolean pay(String payer, Future<?> closed) {
        return count(payers, payer, closed);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the listener sees it
    private boolean count(Seats seats, String key, Future<?> closed) {
        if (!seats.take(key)) {
            metrics.streamsRefused.inc();
            return false;
        }
        closed.addListener(done -> seats.release(key));
        return true;
    }

    /** Bytes of answers and news that wait to be written, to all: for a metric. */
    public int unwrittenBytes() {
        return (int) Math.min(Integer.MAX_VALUE, unwritten.held());
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
