package org.cloister.relay;

import com.google.protobuf.ByteString;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalOutcome;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries requests for renewal to the site's desk and its answers back; docs/protocol.md, section 8. It reads neither: who
 * asked checks the answer. From any thread.
 */
final class Renewals {
    private static final Logger LOG = LoggerFactory.getLogger(Renewals.class);

    private final Relay relay;
    private final AtomicLong ids = new AtomicLong();
    private volatile Optional<RelayLink> desk = Optional.empty();
    private final Map<Long, Asked> asked = new ConcurrentHashMap<>();

    /** Waits for its answer, which comes once: from the desk, or from the clock. */
    private record Asked(RelayLink desk, Consumer<RenewalOutcome> answer) {}

    Renewals(Relay relay) {
        this.relay = relay;
    }

    /** The newest link of a desk is the one that is asked: an older one may be a connection that nobody knows is dead. */
    void attached(RelayLink link) {
        if (link.isDesk()) {
            desk = Optional.of(link);
        }
    }

    boolean hasDesk() {
        return desk.filter(link -> link.connection().isActive()).isPresent();
    }

    /** A host's. */
    void ask(RelayLink link, ByteString request) {
        if (!link.isHost()) {
            tell(link, RenewalOutcome.refused(RenewalOutcome.NOT_ALLOWED));
        } else if (!link.renewal.begin(System.nanoTime())) {
            tell(link, RenewalOutcome.refused(RenewalOutcome.LIMIT));
        } else {
            ask(link.peer, request, link.connection().eventLoop(), outcome -> {
                link.renewal.end();
                tell(link, outcome);
            });
        }
    }

    /**
     * Anybody's whose turn it is.
     *
     * @param answer called once, on any thread, perhaps at once
     */
    void ask(Name from, ByteString request, EventExecutor timer, Consumer<RenewalOutcome> answer) {
        Optional<RelayLink> link = desk.filter(each -> each.connection().isActive());
        if (link.isEmpty()) {
            answer.accept(RenewalOutcome.refused(RenewalOutcome.NO_DESK));
            return;
        }
        if (asked.size() >= LinkLimits.RENEWALS) {
            answer.accept(RenewalOutcome.refused(RenewalOutcome.LIMIT));
            return;
        }
        long id = ids.incrementAndGet();
        ScheduledFuture<?> patience = timer.schedule(
                () -> end(id, RenewalOutcome.refused(RenewalOutcome.NO_ANSWER)),
                LinkLimits.RENEWAL_TIME.toMillis(),
                TimeUnit.MILLISECONDS);
        asked.put(id, new Asked(link.get(), outcome -> {
            patience.cancel(false);
            LOG.info("renewal peer={} outcome={}", from, outcome.isGranted() ? "granted" : outcome.refused());
            answer.accept(outcome);
        }));
        relay.say(link.get(), new RelayMessage.RenewalAsked(id, from, request));
    }

    /** What another link than the asked one says, or says too late, is dropped. */
    void answered(RelayLink link, long id, RenewalOutcome outcome) {
        Asked waiting = asked.get(id);
        if (waiting != null && waiting.desk == link) {
            end(id, outcome);
        }
    }

    private void end(long id, RenewalOutcome outcome) {
        Asked waiting = asked.remove(id);
        if (waiting != null) {
            waiting.answer.accept(outcome);
        }
    }

    private void tell(RelayLink link, RenewalOutcome outcome) {
        relay.say(link, new RelayMessage.Renewed(outcome));
    }
}
