package org.cloister.relay.tickets;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.ticket.RelayTicketMessage;

/** Registers the attached controlling VMs and devices; a device listens for its opener. Thread-safe. */
final class TicketListeners {
    private final Map<CertificateName, Set<TicketPeer>> peersByName = new ConcurrentHashMap<>();

    void add(TicketPeer peer) {
        CertificateRole role = peer.identity().role();
        if (role == CertificateRole.CONTROLLER || role == CertificateRole.DEVICE) {
            peersByName
                    .computeIfAbsent(peer.signerName(), name -> ConcurrentHashMap.newKeySet())
                    .add(peer);
        }
    }

    void remove(TicketPeer peer) {
        peersByName.computeIfPresent(peer.signerName(), (name, peers) -> {
            peers.remove(peer);
            return peers.isEmpty() ? null : peers;
        });
    }

    /** Returns whether a controlling VM of the project is attached. */
    boolean has(String project) {
        return peersByName.keySet().stream()
                .anyMatch(name -> name.role().equals(CertificateRole.CONTROLLER.toString())
                        && name.project().equals(project));
    }

    /** Returns whether a controlling VM of that name is attached, which has proved that it was opened. */
    boolean has(CertificateName controller) {
        return peersByName.containsKey(controller);
    }

    /**
     * Sends an update to the signer of a ticket or an opening if it is attached; otherwise the signer asks when it
     * attaches.
     *
     * @param about key of the earlier update that this one replaces
     */
    void sendUpdate(String signer, String about, RelayTicketMessage message) {
        peersByName.forEach((name, peers) -> {
            if (name.toString().equals(signer)) {
                peers.forEach(peer -> peer.sendUpdate(about, message));
            }
        });
    }
}
