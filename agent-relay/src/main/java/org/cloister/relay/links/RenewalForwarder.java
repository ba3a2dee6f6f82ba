package org.cloister.relay.links;

import com.google.protobuf.ByteString;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards renewal requests to the site's registration authority and its answers back; docs/protocol.md, section 8. It
 * interprets neither: the requester verifies the answer. Thread-safe.
 */
public final class RenewalForwarder {
    private static final Logger LOG = LoggerFactory.getLogger(RenewalForwarder.class);

    private final RelayServer relay;
    private final AtomicLong ids = new AtomicLong();
    private volatile Optional<RelayLink> desk = Optional.empty();
    private final Map<Long, PendingRenewal> asked = new ConcurrentHashMap<>();

    /** Renewal request that waits for its one answer, from the registration authority or the time-out. */
    private record PendingRenewal(RelayLink authority, Consumer<RenewalResult> answer) {}

    RenewalForwarder(RelayServer relay) {
        this.relay = relay;
    }

    /**
     * Makes the newest link of a registration authority the one that is used: an older one may be a dead connection
     * that has not been detected.
     */
    void onAuthorityAttached(RelayLink link) {
        if (link.isAuthority()) {
            desk = Optional.of(link);
        }
    }

    public boolean hasAuthority() {
        return desk.filter(link -> link.connection().isActive()).isPresent();
    }

    /** Handles a renewal request of a host; other agents are refused. */
    void requestRenewal(RelayLink link, ByteString request) {
        if (!link.isHost()) {
            tell(link, RenewalResult.refused(RenewalResult.NOT_ALLOWED));
        } else if (!link.renewal.tryStart(System.nanoTime())) {
            tell(link, RenewalResult.refused(RenewalResult.LIMIT));
        } else {
            requestRenewal(link.peer, request, link.connection().eventLoop(), outcome -> {
                link.renewal.finish();
                tell(link, outcome);
            });
        }
    }

    /**
     * Forwards a renewal request whose rate was already checked.
     *
     * @param answer called once, on any thread, possibly before this method returns
     */
    public void requestRenewal(
            CertificateName from, ByteString request, EventExecutor timer, Consumer<RenewalResult> answer) {
        Optional<RelayLink> link = desk.filter(each -> each.connection().isActive());
        if (link.isEmpty()) {
            answer.accept(RenewalResult.refused(RenewalResult.NO_AUTHORITY));
            return;
        }
        if (asked.size() >= ProtocolLimits.RENEWALS) {
            answer.accept(RenewalResult.refused(RenewalResult.LIMIT));
            return;
        }
        long id = ids.incrementAndGet();
        ScheduledFuture<?> patience = timer.schedule(
                () -> end(id, RenewalResult.refused(RenewalResult.NO_ANSWER)),
                ProtocolLimits.RENEWAL_TIME.toMillis(),
                TimeUnit.MILLISECONDS);
        asked.put(id, new PendingRenewal(link.get(), outcome -> {
            patience.cancel(false);
            LOG.info("renewal peer={} outcome={}", from, outcome.isGranted() ? "granted" : outcome.refused());
            answer.accept(outcome);
        }));
        relay.send(link.get(), new RelayMessage.RenewalRequested(id, from, request));
    }

    /**
     * Completes a request. An answer that is late, or that comes from another link than the one that was asked, is
     * dropped.
     */
    void onResult(RelayLink link, long id, RenewalResult outcome) {
        PendingRenewal waiting = asked.get(id);
        if (waiting != null && waiting.authority == link) {
            end(id, outcome);
        }
    }

    private void end(long id, RenewalResult outcome) {
        PendingRenewal waiting = asked.remove(id);
        if (waiting != null) {
            waiting.answer.accept(outcome);
        }
    }

    private void tell(RelayLink link, RenewalResult outcome) {
        relay.send(link, new RelayMessage.Renewed(outcome));
    }
}
