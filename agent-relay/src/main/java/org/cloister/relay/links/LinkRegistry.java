package org.cloister.relay.links;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/** Which links there are, and which one serves a name. From any thread. */
public final class LinkRegistry {
    private final Set<RelayLink> links = ConcurrentHashMap.newKeySet();
    private final Map<CertificateName, RelayLink> serving = new ConcurrentHashMap<>();

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
    record NameClaim(Optional<CloseReason> refused, Optional<RelayLink> displaced) {
        private static NameClaim refused(CloseReason why) {
            return new NameClaim(Optional.of(why), Optional.empty());
        }
    }

    /**
     * The first claim stands while its link does, unless it is known whose the name is: who the other end is shows inside the
     * circuit, not here.
     *
     * @param owner the host that has the VM of this name, if that is known
     */
    NameClaim serve(RelayLink link, CertificateName name, Optional<CertificateName> owner) {
        if (!link.mayClaimName(name)) {
            return NameClaim.refused(CloseReason.NOT_ALLOWED);
        }
        if (link.served.size() >= ProtocolLimits.SERVED && !link.served.contains(name)) {
            return NameClaim.refused(CloseReason.LIMIT);
        }
        if (owner.isPresent() && !owner.get().equals(link.peer)) {
            return NameClaim.refused(CloseReason.CLAIMED);
        }
        RelayLink before = owner.isPresent() ? serving.put(name, link) : serving.putIfAbsent(name, link);
        Optional<RelayLink> other = Optional.ofNullable(before).filter(each -> each != link);
        if (other.isPresent() && owner.isEmpty()) {
            return NameClaim.refused(CloseReason.CLAIMED);
        }
        link.served.add(name);
        if (!links.contains(link)) {
            // It ended meanwhile, and remove may not have seen this name.
            serving.remove(name, link);
        }
        other.ifPresent(each -> each.served.remove(name));
        return new NameClaim(Optional.empty(), other);
    }

    void unserve(RelayLink link, CertificateName name) {
        link.served.remove(name);
        serving.remove(name, link);
    }

    @Nullable
    public RelayLink find(CertificateName name) {
        return serving.get(name);
    }

    public Collection<RelayLink> links() {
        return links;
    }

    public int attached() {
        return (int) links.stream().filter(RelayLink::isAttached).count();
    }
}
