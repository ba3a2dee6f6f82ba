package org.cloister.relay.links;

import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.RevocableSessions;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.tickets.TicketLifecycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the stored documents to what is open: tickets of projects and signers that are no longer trusted end, and so
 * do the links of such peers with their circuits. Thread-safe.
 */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
public final class LinkRevocationWatch {
    private static final Logger LOG = LoggerFactory.getLogger(LinkRevocationWatch.class);

    private final DeliveredDocuments documents;
    private final TicketLifecycle tickets;
    private final CircuitBroker circuits;
    private final RevocableSessions<RelayLink> links = new RevocableSessions<>();

    public LinkRevocationWatch(DeliveredDocuments documents, TicketLifecycle tickets, CircuitBroker circuits) {
        this.documents = documents;
        this.tickets = tickets;
        this.circuits = circuits;
    }

    void add(RelayLink link) {
        links.add(link, link.identity);
    }

    void remove(RelayLink link) {
        links.remove(link);
    }

    /** Checks once a second; a check that fails is logged, and the next one still runs. */
    public void checkPeriodically() {
        try {
            check();
        } catch (RuntimeException e) {
            LOG.error("the check of revocations failed; the relay repeats it in a second", e);
        }
    }

    void check() {
        documents.refreshApprovals();
        tickets.runPeriodicChecks();
        for (RevocableSessions.RevokedSession<RelayLink> each :
                documents.trustStore().removeRevoked(links)) {
            RelayLink link = each.what();
            LOG.info(
                    "closing link peer={} reason=\"{}\"",
                    link.peer,
                    each.refusal().getMessage());
            circuits.closeCircuits(link, CloseReason.REVOKED);
            link.connection().eventLoop().execute(link::close);
        }
    }
}
