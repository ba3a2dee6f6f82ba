package org.cloister.relay;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.LinkLimits;
import org.jspecify.annotations.Nullable;

/** Which links there are, and which one serves a name. From any thread. */
final class Registry {
    private final Set<RelayLink> links = ConcurrentHashMap.newKeySet();
    private final Map<Name, RelayLink> serving = new ConcurrentHashMap<>();

    void add(RelayLink link) {
        links.add(link);
    }

    void remove(RelayLink link) {
        links.remove(link);
        link.served.forEach(name -> serving.remove(name, link));
    }

    /** The first claim stands while its link does: who the other end is shows inside the circuit, not here. */
    Optional<CloseReason> serve(RelayLink link, Name name) {
        if (!link.maySay(name)) {
            return Optional.of(CloseReason.NOT_ALLOWED);
        }
        if (link.served.size() >= LinkLimits.SERVED && !link.served.contains(name)) {
            return Optional.of(CloseReason.LIMIT);
        }
        RelayLink first = serving.putIfAbsent(name, link);
        if (first != null && first != link) {
            return Optional.of(CloseReason.CLAIMED);
        }
        link.served.add(name);
        if (!links.contains(link)) {
            // It ended meanwhile, and remove may not have seen this name.
            serving.remove(name, link);
        }
        return Optional.empty();
    }

    void unserve(RelayLink link, Name name) {
        link.served.remove(name);
        serving.remove(name, link);
    }

    @Nullable
    RelayLink find(Name name) {
        return serving.get(name);
    }

    Collection<RelayLink> links() {
        return links;
    }

    int attached() {
        return (int) links.stream().filter(RelayLink::isAttached).count();
    }
}
