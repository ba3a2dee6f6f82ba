package org.cloister.relay.tickets;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.ticket.RelayTicketMessage;

/** Registers the attached controlling VMs and devices; a device listens for its opener. Thread-safe. */
final class TicketListeners {
    private final Map<CertificateName, Set<TicketPeer>> here = new ConcurrentHashMap<>();

    void add(TicketPeer party) {
        CertificateRole role = party.identity().role();
        if (role == CertificateRole.CONTROLLER || role == CertificateRole.DEVICE) {
            here.computeIfAbsent(party.signerName(), name -> ConcurrentHashMap.newKeySet())
                    .add(party);
        }
    }

    void remove(TicketPeer party) {
        here.computeIfPresent(party.signerName(), (name, parties) -> {
            parties.remove(party);
            return parties.isEmpty() ? null : parties;
        });
    }

    /** Returns whether a controlling VM of the project is attached. */
    boolean has(String project) {
        return here.keySet().stream()
                .anyMatch(name -> name.role().equals(CertificateRole.CONTROLLER.toString())
                        && name.project().equals(project));
    }

    /** Returns whether a controlling VM of that name is attached, which has proved that it was opened. */
    boolean has(CertificateName controller) {
        return here.containsKey(controller);
    }

    /**
     * Sends news to the signer of a ticket or an opening if it is attached; otherwise the signer asks when it attaches.
     *
     * @param about key of earlier news that this one replaces
     */
    void sendUpdate(String signer, String about, RelayTicketMessage news) {
        here.forEach((name, parties) -> {
            if (name.toString().equals(signer)) {
                parties.forEach(party -> party.sendUpdate(about, news));
            }
        });
    }
}
