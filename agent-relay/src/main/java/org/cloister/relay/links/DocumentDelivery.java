package org.cloister.relay.links;

import java.io.IOException;
import java.util.Set;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.tickets.TicketLifecycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts project documents, approvals and revocation lists from operators and the registration authority. */
public final class DocumentDelivery {
    private static final Logger LOG = LoggerFactory.getLogger(DocumentDelivery.class);

    private final DeliveredDocuments documents;
    private final TicketLifecycle tickets;
    private final LinkRevocationWatch watch;
    private final RevocationDistributor distributor;
    private final RelayMetrics metrics;

    public DocumentDelivery(
            DeliveredDocuments documents,
            TicketLifecycle tickets,
            LinkRevocationWatch watch,
            RevocationDistributor distributor,
            RelayMetrics metrics) {
        this.documents = documents;
        this.tickets = tickets;
        this.watch = watch;
        this.distributor = distributor;
        this.metrics = metrics;
    }

    /**
     * Stores a document: first on disk, then in force on every link, then sent to the agents it concerns.
     *
     * @return a description of what was stored
     * @throws IOException if it is not a valid document, is older than the stored one, or cannot be stored
     */
    public String deliver(byte[] document) throws IOException {
        Set<RevocationList> before = Set.copyOf(distributor.inForce());
        DeliveredDocuments.Stored stored = documents.store(document);
        metrics.deliveriesAccepted.inc();
        LOG.info("accepted {}", stored.text());
        tickets.record(stored.event());
        watch.check();
        distributor.sendNew(before);
        return stored.text();
    }
}
