package org.cloister.vm.boot;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whom this VM believes: nobody until it was told of a project. The lists of revocations that its channel brings come before
 * that, and those of a site before its keys do, so the newest of each issuer stays here for whoever is believed later. From any
 * thread.
 */
public final class VmTrustStore {
    private static final Logger LOG = LoggerFactory.getLogger(VmTrustStore.class);

    private final TrustStore beliefs;
    /** By who it says that its issuer is. */
    private final Map<String, byte[]> lists = new LinkedHashMap<>();

    /** @param beliefs nobody's but this object's to change */
    public VmTrustStore(TrustStore beliefs) {
        this.beliefs = beliefs;
    }

    /** For whoever verifies. */
    public TrustStore trustStore() {
        return beliefs;
    }

    /** These, in the place of those before, with the lists that came. */
    public synchronized void replaceAnchors(TrustAnchors anchors) {
        beliefs.replaceAnchors(anchors);
        lists.values().forEach(this::take);
    }

    /**
     * A list that the channel brought.
     *
     * @return whether it is in force here
     */
    public synchronized boolean addRevocationList(byte[] signed) {
        String issuer;
        try {
            issuer = RevocationList.claimedIssuer(signed);
        } catch (MalformedException e) {
            LOG.debug("a revocation list is none: {}", e.getMessage());
            return false;
        }
        if (lists.containsKey(issuer) || lists.size() < ProtocolLimits.LISTS) {
            lists.put(issuer, signed.clone());
        }
        return take(signed);
    }

    private boolean take(byte[] list) {
        try {
            beliefs.addRevocationList(list);
            return true;
        } catch (IOException e) {
            // Of somebody whom nobody here believes, mostly, or an older one.
            LOG.debug("a revocation list was not taken: {}", e.getMessage());
            return false;
        }
    }
}
