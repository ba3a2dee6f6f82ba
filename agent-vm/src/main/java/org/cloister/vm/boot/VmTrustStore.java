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
 * Trust store of this VM, empty until the VM is assigned a project. Revocation lists arrive on the channel before that,
 * and a site's lists before its keys; the newest list of each issuer is therefore stored until its issuer is trusted.
 * Thread-safe.
 */
public final class VmTrustStore {
    private static final Logger LOG = LoggerFactory.getLogger(VmTrustStore.class);

    private final TrustStore trustStore;
    /** Lists by the issuer that they claim. */
    private final Map<String, byte[]> lists = new LinkedHashMap<>();

    /**
     * Creates the store.
     *
     * @param trustStore changed by this object only
     */
    public VmTrustStore(TrustStore trustStore) {
        this.trustStore = trustStore;
    }

    /** Returns the store for verifiers. */
    public TrustStore trustStore() {
        return trustStore;
    }

    /** Replaces the trust anchors, then applies all lists received so far. */
    public synchronized void replaceAnchors(TrustAnchors anchors) {
        trustStore.replaceAnchors(anchors);
        lists.values().forEach(this::addList);
    }

    /**
     * Adds a list that arrived on the channel.
     *
     * @return whether it is in force here
     */
    public synchronized boolean addRevocationList(byte[] signed) {
        String issuer;
        try {
            issuer = RevocationList.claimedIssuer(signed);
        } catch (MalformedException e) {
            LOG.debug("malformed revocation list: {}", e.getMessage());
            return false;
        }
        if (lists.containsKey(issuer) || lists.size() < ProtocolLimits.LISTS) {
            lists.put(issuer, signed.clone());
        }
        return addList(signed);
    }

    private boolean addList(byte[] list) {
        try {
            trustStore.addRevocationList(list);
            return true;
        } catch (IOException e) {
            // Mostly a list of an issuer that this VM does not trust, or an older list.
            LOG.debug("revocation list not accepted: {}", e.getMessage());
            return false;
        }
    }
}
