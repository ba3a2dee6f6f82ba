package org.cloister.relay.links;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.relay.state.DeliveredDocuments;

/** Sends revocation lists to the agents that they concern. Thread-safe. */
public final class RevocationDistributor {
    private final DeliveredDocuments documents;
    private final LinkRegistry registry;
    private final LinkMessenger messenger;
    private final RevocationListFrames frames = new RevocationListFrames();

    public RevocationDistributor(DeliveredDocuments documents, LinkRegistry registry, LinkMessenger messenger) {
        this.documents = documents;
        this.registry = registry;
        this.messenger = messenger;
    }

    /** Returns the lists that a new agent needs: the site's, and for a device those of its project. */
    List<RevocationList> listsFor(RelayLink link) {
        List<RevocationList> lists = new ArrayList<>(documents.revocationListsFor(CertificateName.SITE));
        if (link.isDevice()) {
            lists.addAll(documents.revocationListsFor(link.peer.project()));
        }
        return lists;
    }

    /** Sends the revocation lists that the peers of this project's parties need. */
    void sendProject(RelayLink link, String project) {
        documents.revocationListsFor(project).forEach(list -> send(link, list));
    }

    void send(RelayLink link, RevocationList list) {
        messenger.sendRevocationList(link, list, frames.framed(list, inForce()));
    }

    /** Sends the lists in force that are not in {@code before} to every attached agent that they concern. */
    void sendNew(Set<RevocationList> before) {
        for (RelayLink link : registry.links()) {
            if (link.isAttached()) {
                for (RevocationList list : inForce()) {
                    if (!before.contains(list) && documents.concerns(list, link::concerns)) {
                        send(link, list);
                    }
                }
            }
        }
    }

    Collection<RevocationList> inForce() {
        return documents.trustStore().lists().all();
    }
}
