package org.cloister.relay.ticket;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.OfficeMessage;

/** Controlling VMs that are here. From any thread. */
final class Listeners {
    private final Map<Name, Set<Party>> controllers = new ConcurrentHashMap<>();

    void enter(Party party) {
        if (party.identity().role() == Role.CONTROLLER) {
            controllers
                    .computeIfAbsent(party.identity().name(), name -> ConcurrentHashMap.newKeySet())
                    .add(party);
        }
    }

    void leave(Party party) {
        controllers.computeIfPresent(party.identity().name(), (name, parties) -> {
            parties.remove(party);
            return parties.isEmpty() ? null : parties;
        });
    }

    boolean has(String project) {
        return controllers.keySet().stream().anyMatch(name -> name.project().equals(project));
    }

    /**
     * To a ticket's controlling VM, if it is here; if not it asks when it is.
     *
     * @param about what of earlier news it replaces
     */
    void tell(String controller, String about, OfficeMessage news) {
        controllers.forEach((name, parties) -> {
            if (name.toString().equals(controller)) {
                parties.forEach(party -> party.tell(about, news));
            }
        });
    }
}
