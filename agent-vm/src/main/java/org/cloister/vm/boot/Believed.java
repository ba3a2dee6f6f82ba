package org.cloister.vm.boot;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.LinkLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whom this VM believes: nobody until it was told of a project. The lists of revocations that its channel brings come before
 * that, and those of a site before its keys do, so the newest of each issuer stays here for whoever is believed later. From any
 * thread.
 */
public final class Believed {
    private static final Logger LOG = LoggerFactory.getLogger(Believed.class);

    private final Beliefs beliefs;
    /** By who it says that its issuer is. */
    private final Map<String, byte[]> lists = new LinkedHashMap<>();

    /** @param beliefs nobody's but this object's to change */
    public Believed(Beliefs beliefs) {
        this.beliefs = beliefs;
    }

    /** For whoever verifies. */
    public Beliefs beliefs() {
        return beliefs;
    }

    /** These, in the place of those before, with the lists that came. */
    public synchronized void believe(Anchors anchors) {
        beliefs.believe(anchors);
        lists.values().forEach(this::take);
    }

    /**
     * A list that the channel brought.
     *
     * @return whether it is in force here
     */
    public synchronized boolean heard(byte[] signed) {
        String issuer;
        try {
            issuer = RevocationList.claimedIssuer(signed);
        } catch (MalformedException e) {
            LOG.debug("a revocation list is none: {}", e.getMessage());
            return false;
        }
        if (lists.containsKey(issuer) || lists.size() < LinkLimits.LISTS) {
            lists.put(issuer, signed.clone());
        }
        return take(signed);
    }

    private boolean take(byte[] list) {
        try {
            beliefs.take(list);
            return true;
        } catch (IOException e) {
            // Of somebody whom nobody here believes, mostly, or an older one.
            LOG.debug("a revocation list was not taken: {}", e.getMessage());
            return false;
        }
    }
}
