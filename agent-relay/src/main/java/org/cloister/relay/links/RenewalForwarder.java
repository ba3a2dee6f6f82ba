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
 * Carries requests for renewal to the site's desk and its answers back; docs/protocol.md, section 8. It reads neither: who
 * asked checks the answer. From any thread.
 */
public final class RenewalForwarder {
    private static final Logger LOG = LoggerFactory.getLogger(RenewalForwarder.class);

    private final RelayServer relay;
    private final AtomicLong ids = new AtomicLong();
    private volatile Optional<RelayLink> desk = Optional.empty();
    private final Map<Long, PendingRenewal> asked = new ConcurrentHashMap<>();

    /** Waits for its answer, which comes once: from the desk, or from the clock. */
    private record PendingRenewal(RelayLink authority, Consumer<RenewalResult> answer) {}

    RenewalForwarder(RelayServer relay) {
        this.relay = relay;
    }

    /** The newest link of a desk is the one that is asked: an older one may be a connection that nobody knows is dead. */
    void onAuthorityAttached(RelayLink link) {
        if (link.isAuthority()) {
            desk = Optional.of(link);
        }
    }

    public boolean hasAuthority() {
        return desk.filter(link -> link.connection().isActive()).isPresent();
    }

    /** A host's. */
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
     * Anybody's whose turn it is.
     *
     * @param answer called once, on any thread, perhaps at once
     */
    public void requestRenewal(
            CertificateName from, ByteString request, EventExecutor timer, Consumer<RenewalResult> answer) {
        Optional<RelayLink> link = desk.filter(each -> each.connection().isActive());
        if (link.isEmpty()) {
            answer.accept(RenewalResult.refused(RenewalResult.NO_DESK));
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

    /** What another link than the asked one says, or says too late, is dropped. */
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
