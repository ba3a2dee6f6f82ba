package org.cloister.relay.links;

import java.util.HashSet;
import java.util.Set;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;

/** Hosts that renew an expired certificate at this time: one link each, and few of them at once. Thread-safe. */
final class RenewalLinks {
    private final Set<CertificateName> open = new HashSet<>();

    /** Returns false if the host has such a link already, or too many hosts have. */
    synchronized boolean tryOpen(CertificateName host) {
        return open.size() < ProtocolLimits.RENEWAL_LINKS && open.add(host);
    }

    synchronized int count() {
        return open.size();
    }

    synchronized void close(CertificateName host) {
        open.remove(host);
    }
}
