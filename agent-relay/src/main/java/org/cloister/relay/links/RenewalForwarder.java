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

    private final LinkMessenger messenger;
    private final AtomicLong ids = new AtomicLong();
    private volatile Optional<RelayLink> authority = Optional.empty();
    private final Map<Long, PendingRenewal> pending = new ConcurrentHashMap<>();

    /** Renewal request that waits for its one answer, from the registration authority or the time-out. */
    private record PendingRenewal(RelayLink authority, Consumer<RenewalResult> answer) {}

    public RenewalForwarder(LinkMessenger messenger) {
        this.messenger = messenger;
    }

    /**
     * Makes the newest link of a registration authority the one that is used: an older one may be a dead connection
     * that has not been detected.
     */
    void onAuthorityAttached(RelayLink link) {
        if (link.isAuthority()) {
            authority = Optional.of(link);
        }
    }

    public boolean hasAuthority() {
        return authority.filter(link -> link.connection().isActive()).isPresent();
    }

    /** Handles the request of a host, or of a machine that joins the site; other agents are refused. */
    void requestRenewal(RelayLink link, ByteString request) {
        if (!link.isHost() && !link.isJoining()) {
            sendResult(link, RenewalResult.refused(RenewalResult.NOT_ALLOWED));
        } else if (!link.renewal.tryStart(System.nanoTime())) {
            sendResult(link, RenewalResult.refused(RenewalResult.LIMIT));
        } else {
            requestRenewal(link.peer, request, link.connection().eventLoop(), result -> {
                link.renewal.finish();
                sendResult(link, result);
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
        Optional<RelayLink> link = authority.filter(each -> each.connection().isActive());
        if (link.isEmpty()) {
            answer.accept(RenewalResult.refused(RenewalResult.NO_AUTHORITY));
            return;
        }
        if (pending.size() >= ProtocolLimits.RENEWALS) {
            answer.accept(RenewalResult.refused(RenewalResult.LIMIT));
            return;
        }
        long id = ids.incrementAndGet();
        ScheduledFuture<?> timeout = timer.schedule(
                () -> complete(id, RenewalResult.refused(RenewalResult.NO_ANSWER)),
                ProtocolLimits.RENEWAL_TIME.toMillis(),
                TimeUnit.MILLISECONDS);
        pending.put(id, new PendingRenewal(link.get(), result -> {
            timeout.cancel(false);
            LOG.info("certificate renewal peer={} result={}", from, result.isGranted() ? "granted" : result.refused());
            answer.accept(result);
        }));
        messenger.send(link.get(), new RelayMessage.RenewalRequested(id, from, request));
    }

    /**
     * Completes a request. An answer that is late, or that comes from another link than the one that was asked, is
     * dropped.
     */
    void onResult(RelayLink link, long id, RenewalResult result) {
        PendingRenewal renewal = pending.get(id);
        if (renewal != null && renewal.authority == link) {
            complete(id, result);
        }
    }

    private void complete(long id, RenewalResult result) {
        PendingRenewal renewal = pending.remove(id);
        if (renewal != null) {
            renewal.answer.accept(result);
        }
    }

    private void sendResult(RelayLink link, RenewalResult result) {
        messenger.send(link, new RelayMessage.Renewed(result));
    }
}
