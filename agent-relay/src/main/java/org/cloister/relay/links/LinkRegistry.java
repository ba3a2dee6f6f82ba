package org.cloister.relay.links;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.tickets.AttachedAgents;
import org.jspecify.annotations.Nullable;

/** Registers the open links and the link that serves each name. Thread-safe. */
public final class LinkRegistry implements AttachedAgents {
    private final Set<RelayLink> links = ConcurrentHashMap.newKeySet();
    private final Map<CertificateName, RelayLink> serving = new ConcurrentHashMap<>();
    /** Peers whose links are not registered here, since they may do nothing but ask for a certificate. */
    final RenewalLinks renewing = new RenewalLinks();

    void add(RelayLink link) {
        links.add(link);
    }

    void remove(RelayLink link) {
        links.remove(link);
        link.served.forEach(name -> serving.remove(name, link));
    }

    /**
     * Result of a claim to a name.
     *
     * @param refused empty if the link serves the name from now on
     * @param displaced the link that served the name until now, if it is another one
     */
    record NameClaim(Optional<CloseReason> refused, Optional<RelayLink> displaced) {
        private static NameClaim refused(CloseReason reason) {
            return new NameClaim(Optional.of(reason), Optional.empty());
        }
    }

    /**
     * Registers the link as the one that serves the name. The first claim stays valid while its link is open, unless
     * the name's owner is known: the relay cannot authenticate the VM behind a name; the peers of its circuits do.
     * The newest link of a peer takes a name over from an older one: its end may not have reached the relay, and then
     * no agent answers there.
     *
     * @param owner the host on which the VM of this name runs, if known
     * @return whether the claim was accepted, and which link it displaced
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
        AtomicReference<RelayLink> before = new AtomicReference<>();
        RelayLink now = serving.compute(name, (each, current) -> {
            before.set(current);
            boolean mayTake = current == null || owner.isPresent() || current.peer.equals(link.peer);
            return mayTake ? link : current;
        });
        if (now != link) {
            return NameClaim.refused(CloseReason.CLAIMED);
        }
        Optional<RelayLink> other = Optional.ofNullable(before.get()).filter(each -> each != link);
        link.served.add(name);
        if (!links.contains(link)) {
            // The link closed meanwhile, and remove may not have seen this name.
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

    @Override
    public boolean isServed(CertificateName name) {
        return serving.containsKey(name);
    }

    /** Finds the attached host of a node. A host's id is its node's name in lower case, up to the first dot. */
    @Override
    public Optional<CertifiedIdentity> host(String node) {
        int dot = node.indexOf('.');
        String id = (dot < 0 ? node : node.substring(0, dot)).toLowerCase(Locale.ROOT);
        return links.stream()
                .filter(link ->
                        link.isHost() && link.isAttached() && link.peer.id().equals(id))
                .map(link -> link.identity)
                .findFirst();
    }

    public Collection<RelayLink> links() {
        return links;
    }

    public int attached() {
        return (int) links.stream().filter(RelayLink::isAttached).count();
    }
}
