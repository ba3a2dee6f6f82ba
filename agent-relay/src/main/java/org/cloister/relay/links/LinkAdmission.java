package org.cloister.relay.links;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.fairness.ProjectConnectionLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Admits authenticated links up to the limits of their projects, and registers them until they close. */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
public final class LinkAdmission {
    private static final Logger LOG = LoggerFactory.getLogger(LinkAdmission.class);

    private final ProjectConnectionLimits projectLimits;
    private final LinkRegistry registry;
    private final LinkRevocationWatch watch;
    private final CircuitBroker circuits;

    public LinkAdmission(
            ProjectConnectionLimits projectLimits,
            LinkRegistry registry,
            LinkRevocationWatch watch,
            CircuitBroker circuits) {
        this.projectLimits = projectLimits;
        this.registry = registry;
        this.watch = watch;
        this.circuits = circuits;
    }

    /**
     * Admits a link of a host whose certificate has expired, or of a machine that joins the site, for a short time. It
     * is not registered: no circuit, ticket or list of hosts knows it.
     *
     * @return false if the peer has such a link already, or too many peers have
     */
    boolean admitForRenewal(RelayLink link) {
        if (!registry.renewing.tryOpen(link.peer)) {
            return false;
        }
        link.connection()
                .eventLoop()
                .schedule(link::close, ProtocolLimits.RENEWAL_LINK_TIME.toMillis(), TimeUnit.MILLISECONDS);
        if (link.isJoining()) {
            // Its certificate is valid, so that a list may revoke it; an expired one was checked by its key.
            watch.add(link);
        }
        link.connection().closeFuture().addListener(closed -> {
            registry.renewing.close(link.peer);
            watch.remove(link);
            LOG.info("link for renewal closed peer={}", link.peer);
        });
        return true;
    }

    /**
     * Registers a link.
     *
     * @return false if the project has as many links as it may have
     */
    boolean admit(RelayLink link) {
        if (link.isDevice()) {
            Optional<ProjectConnectionLimits.Reservation> reservation =
                    projectLimits.acquireLink(link.peer.project(), System.nanoTime());
            if (reservation.isEmpty()) {
                return false;
            }
            link.connection()
                    .closeFuture()
                    .addListener(closed -> reservation.get().close());
        }
        registry.add(link);
        if (link.isAuthority()) {
            // This link delivers the revocation list by which it would be checked, so only its certificate's expiry
            // closes it.
            Duration validFor = Duration.between(Instant.now(), link.identity.notAfter());
            link.connection().eventLoop().schedule(link::close, validFor.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            watch.add(link);
        }
        link.connection().closeFuture().addListener(closed -> {
            registry.remove(link);
            watch.remove(link);
            circuits.onLinkClosed(link);
            LOG.info("link closed peer={}", link.peer);
        });
        return true;
    }
}
