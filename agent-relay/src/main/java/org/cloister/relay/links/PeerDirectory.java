package org.cloister.relay.links;

import java.util.Locale;
import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.tickets.RelayContext;

/** Gives the ticket code access to projects, and to attached hosts by the names of their nodes in the Global Slurm. */
record PeerDirectory(DeliveredDocuments deliveries, LinkRegistry registry) implements RelayContext {
    @Override
    public Optional<ProjectApproval> approval(String project) {
        return deliveries.approval(project);
    }

    @Override
    public TrustStore trustStore() {
        return deliveries.trustStore();
    }

    @Override
    public ProjectTrustBundle trustBundle(String project, Optional<VerificationKey> anchor) {
        return deliveries.trustBundle(project, anchor);
    }

    @Override
    public boolean isServed(CertificateName name) {
        return registry.find(name) != null;
    }

    /** Finds the attached host of a node. A host's id is its node's name in lower case, up to the first dot. */
    @Override
    public Optional<CertifiedIdentity> host(String node) {
        int dot = node.indexOf('.');
        String id = (dot < 0 ? node : node.substring(0, dot)).toLowerCase(Locale.ROOT);
        return registry.links().stream()
                .filter(link ->
                        link.isHost() && link.isAttached() && link.peer.id().equals(id))
                .map(link -> link.identity)
                .findFirst();
    }
}
