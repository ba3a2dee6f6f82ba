package org.cloister.relay.links;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.tickets.TicketLifecycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles the messages of attached agents; docs/protocol.md, section 8. Thread-safe. */
public final class AttachMessageHandler {
    private static final Logger LOG = LoggerFactory.getLogger(AttachMessageHandler.class);

    private final CertificateName relay;
    private final LinkRegistry registry;
    private final LinkMessenger messenger;
    private final RevocationDistributor distributor;
    private final RenewalForwarder renewals;
    private final DocumentDelivery delivery;
    private final TicketLifecycle tickets;
    private final CircuitBroker circuits;
    private final ReconnectSpread reconnect;
    private final RelayDrain drain;
    private final RelayMetrics metrics;

    public AttachMessageHandler(
            CertificateName relay,
            LinkRegistry registry,
            LinkMessenger messenger,
            RevocationDistributor distributor,
            RenewalForwarder renewals,
            DocumentDelivery delivery,
            TicketLifecycle tickets,
            CircuitBroker circuits,
            ReconnectSpread reconnect,
            RelayDrain drain,
            RelayMetrics metrics) {
        this.relay = relay;
        this.registry = registry;
        this.messenger = messenger;
        this.distributor = distributor;
        this.renewals = renewals;
        this.delivery = delivery;
        this.tickets = tickets;
        this.circuits = circuits;
        this.reconnect = reconnect;
        this.drain = drain;
        this.metrics = metrics;
    }

    void onAttached(RelayLink link) {
        if (link.isForRenewal()) {
            onAttachedForRenewal(link);
            return;
        }
        reconnect.onAttached(registry.attached());
        List<RevocationList> lists = distributor.listsFor(link);
        messenger.send(
                link, new RelayMessage.Attached(relay.toString(), reconnect.delay(), lists.size(), tickets.head()));
        lists.forEach(list -> distributor.send(link, list));
        renewals.onAuthorityAttached(link);
        if (drain.isDraining()) {
            messenger.send(link, new RelayMessage.Drain(reconnect.delay()));
        }
        LOG.info("attached peer={} software=\"{}\"", link.peer, link.software());
    }

    /** Sends the site's lists, by which the peer verifies that this relay is not revoked, and nothing else. */
    private void onAttachedForRenewal(RelayLink link) {
        List<RevocationList> lists = distributor.listsFor(link);
        messenger.send(link, new RelayMessage.Attached(relay.toString(), reconnect.delay(), lists.size()));
        lists.forEach(list -> distributor.send(link, list));
        LOG.info("attached for {} alone peer={} end={}", purpose(link), link.peer, link.identity.notAfter());
    }

    private static String purpose(RelayLink link) {
        return link.isJoining() ? "enrolment" : "renewal";
    }

    /** Handles a message other than {@link AgentMessage.Attach}. */
    void onMessage(RelayLink link, AgentMessage message) throws MalformedException {
        if (link.isForRenewal()
                && !(message instanceof AgentMessage.Renew || message instanceof AgentMessage.RevocationsKept)) {
            throw new MalformedException("attach stream: the certificate of " + link.peer + ", which ends at "
                    + link.identity.notAfter() + ", permits its " + purpose(link) + " alone");
        }
        if (message instanceof AgentMessage.Serve serve) {
            serve(link, serve.name());
        } else if (message instanceof AgentMessage.Unserve unserve) {
            registry.unserve(link, unserve.name());
        } else if (message instanceof AgentMessage.DialRefused refused) {
            circuits.onDialRefused(link, refused.token(), refused.reason());
        } else if (message instanceof AgentMessage.RevocationsKept kept) {
            link.onRevocationsStored(kept.list());
        } else if (message instanceof AgentMessage.Renew renew) {
            renewals.requestRenewal(link, renew.request());
        } else if (message instanceof AgentMessage.RenewalAnswered answer) {
            requireAuthority(link);
            renewals.onResult(link, answer.id(), answer.outcome());
        } else if (message instanceof AgentMessage.DeliverRevocations revocations) {
            requireAuthority(link);
            deliver(link, revocations.signed().toByteArray());
        }
    }

    private void serve(RelayLink link, CertificateName name) {
        boolean firstOfProject = !link.concerns(name.project());
        LinkRegistry.NameClaim claim = registry.serve(link, name, tickets.hostOf(name));
        claim.displaced().ifPresent(other -> {
            LOG.info("name moved name={} from={} to={}", name, other.peer, link.peer);
            messenger.send(other, new RelayMessage.Served(name, Optional.of(CloseReason.CLAIMED)));
        });
        Optional<CloseReason> refused = claim.refused();
        refused.ifPresent(reason -> {
            metrics.claimsRefused.inc();
            LOG.warn("name refused peer={} name={} reason={}", link.peer, name, reason);
        });
        if (firstOfProject && refused.isEmpty()) {
            distributor.sendProject(link, name.project());
        }
        messenger.send(link, new RelayMessage.Served(name, refused));
    }

    private static void requireAuthority(RelayLink link) throws MalformedException {
        if (!link.isAuthority()) {
            throw new MalformedException("attach stream: " + link.peer
                    + " sent a message that only the site's registration authority (agentctl site serve) may send");
        }
    }

    /**
     * Stores a revocation list as if an operator had delivered it: the list's signature authenticates it. The site's
     * registration authority receives the list back once it is in force.
     */
    private void deliver(RelayLink link, byte[] signed) {
        if (!link.delivery.tryStart(System.nanoTime())) {
            LOG.warn("revocation list refused peer={} reason=\"it came too soon after the last one\"", link.peer);
            return;
        }
        try {
            delivery.deliver(signed);
        } catch (IOException e) {
            LOG.warn("revocation list refused peer={} reason=\"{}\"", link.peer, e.getMessage());
        } finally {
            link.delivery.finish();
        }
    }
}
