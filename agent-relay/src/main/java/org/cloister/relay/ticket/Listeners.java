package org.cloister.relay.ticket;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.OfficeMessage;

/** Controlling VMs that are here, and devices, which listen for the openers whose they are. From any thread. */
final class Listeners {
    private final Map<Name, Set<Party>> here = new ConcurrentHashMap<>();

    void enter(Party party) {
        Role role = party.identity().role();
        if (role == Role.CONTROLLER || role == Role.DEVICE) {
            here.computeIfAbsent(party.signs(), name -> ConcurrentHashMap.newKeySet())
                    .add(party);
        }
    }

    void leave(Party party) {
        here.computeIfPresent(party.signs(), (name, parties) -> {
            parties.remove(party);
            return parties.isEmpty() ? null : parties;
        });
    }

    /** Whether a controlling VM of the project is here. */
    boolean has(String project) {
        return here.keySet().stream()
                .anyMatch(name -> name.role().equals(Role.CONTROLLER.toString())
                        && name.project().equals(project));
    }

    /** Whether a controlling VM of that name is here, which has proved that it was opened. */
    boolean has(Name controller) {
        return here.containsKey(controller);
    }

    /**
     * To whom signed a ticket or an opening, if it is here; if not it asks when it is.
     *
     * @param about what of earlier news it replaces
     */
    void tell(String signer, String about, OfficeMessage news) {
        here.forEach((name, parties) -> {
            if (name.toString().equals(signer)) {
                parties.forEach(party -> party.tell(about, news));
            }
        });
    }
}
