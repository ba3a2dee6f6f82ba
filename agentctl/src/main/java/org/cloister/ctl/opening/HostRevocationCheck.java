package org.cloister.ctl.opening;

import java.io.IOException;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AllocatedSlot;

/**
 * Checks the host of an opening's slot against the site's revocation lists that the relay has sent so far. A device
 * sees none of the host's certificates, so a list identifies the host by its key.
 */
record HostRevocationCheck(TrustStore trustStore, AllocatedSlot slot) {
    /**
     * Returns whether the site has revoked the host.
     *
     * @throws IOException if the site's list for this host is missing or has expired
     */
    boolean isRevoked() throws IOException {
        try {
            trustStore.requireKey(slot.key());
            return false;
        } catch (IdentityRefusedException e) {
            if (e.clause() == IdentityClause.REVOKED) {
                return true;
            }
            throw new IOException(
                    slot.host() + ": " + e.getMessage()
                            + "; no key is sent to a host that may be revoked: ask the site to run agentctl "
                            + "site serve, or remove an authority that it no longer uses from --site",
                    e);
        }
    }
}
