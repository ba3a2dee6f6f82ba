package org.cloister.relay.links;

import java.util.HashSet;
import java.util.Set;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * Hosts that renew an expired certificate, and machines that join the site, at this time: one link each, and few of
 * them at once. Thread-safe.
 */
final class RenewalLinks {
    private final Set<CertificateName> open = new HashSet<>();

    /** Returns false if the peer has such a link already, or too many peers have. */
    synchronized boolean tryOpen(CertificateName peer) {
        return open.size() < ProtocolLimits.RENEWAL_LINKS && open.add(peer);
    }

    synchronized int count() {
        return open.size();
    }

    synchronized void close(CertificateName peer) {
        open.remove(peer);
    }
}
