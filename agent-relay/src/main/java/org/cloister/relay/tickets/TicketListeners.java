package org.cloister.relay.tickets;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.ticket.RelayTicketMessage;

/** Controlling VMs that are here, and devices, which listen for the openers whose they are. From any thread. */
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

    /** Whether a controlling VM of the project is here. */
    boolean has(String project) {
        return here.keySet().stream()
                .anyMatch(name -> name.role().equals(CertificateRole.CONTROLLER.toString())
                        && name.project().equals(project));
    }

    /** Whether a controlling VM of that name is here, which has proved that it was opened. */
    boolean has(CertificateName controller) {
        return here.containsKey(controller);
    }

    /**
     * To whom signed a ticket or an opening, if it is here; if not it asks when it is.
     *
     * @param about what of earlier news it replaces
     */
    void sendUpdate(String signer, String about, RelayTicketMessage news) {
        here.forEach((name, parties) -> {
            if (name.toString().equals(signer)) {
                parties.forEach(party -> party.sendUpdate(about, news));
            }
        });
    }
}
