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

    /**
     * What became of a claim.
     *
     * @param refused empty if the name is the link's from now on
     * @param displaced whose it was until now, if that is another
     */
    record Claim(Optional<CloseReason> refused, Optional<RelayLink> displaced) {
        private static Claim refused(CloseReason why) {
            return new Claim(Optional.of(why), Optional.empty());
        }
    }

    /**
     * The first claim stands while its link does, unless it is known whose the name is: who the other end is shows inside the
     * circuit, not here.
     *
     * @param owner the host that has the VM of this name, if that is known
     */
    Claim serve(RelayLink link, Name name, Optional<Name> owner) {
        if (!link.maySay(name)) {
            return Claim.refused(CloseReason.NOT_ALLOWED);
        }
        if (link.served.size() >= LinkLimits.SERVED && !link.served.contains(name)) {
            return Claim.refused(CloseReason.LIMIT);
        }
        if (owner.isPresent() && !owner.get().equals(link.peer)) {
            return Claim.refused(CloseReason.CLAIMED);
        }
        RelayLink before = owner.isPresent() ? serving.put(name, link) : serving.putIfAbsent(name, link);
        Optional<RelayLink> other = Optional.ofNullable(before).filter(each -> each != link);
        if (other.isPresent() && owner.isEmpty()) {
            return Claim.refused(CloseReason.CLAIMED);
        }
        link.served.add(name);
        if (!links.contains(link)) {
            // It ended meanwhile, and remove may not have seen this name.
            serving.remove(name, link);
        }
        other.ifPresent(each -> each.served.remove(name));
        return new Claim(Optional.empty(), other);
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
