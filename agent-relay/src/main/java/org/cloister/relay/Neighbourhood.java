package org.cloister.relay;

import java.util.Locale;
import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.ProjectPapers;
import org.cloister.relay.ticket.Surroundings;

/** What tickets need to know of the relay: projects, and hosts by the nodes of Global Slurm that they are. */
record Neighbourhood(Deliveries deliveries, Registry registry) implements Surroundings {
    @Override
    public Optional<Approval> approval(String project) {
        return deliveries.approval(project);
    }

    @Override
    public Beliefs beliefs() {
        return deliveries.beliefs();
    }

    @Override
    public ProjectPapers papers(String project, Optional<VerificationKey> anchor) {
        return deliveries.papers(project, anchor);
    }

    @Override
    public boolean isServed(Name name) {
        return registry.find(name) != null;
    }

    /** A host's id is its node's name in lower case, up to the first dot. */
    @Override
    public Optional<Identity> host(String node) {
        int dot = node.indexOf('.');
        String id = (dot < 0 ? node : node.substring(0, dot)).toLowerCase(Locale.ROOT);
        return registry.links().stream()
                .filter(link ->
                        link.isHost() && link.isAttached() && link.peer.id().equals(id))
                .map(link -> link.identity)
                .findFirst();
    }
}
