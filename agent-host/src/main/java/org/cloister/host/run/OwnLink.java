package org.cloister.host.run;

import java.time.Instant;
import java.util.Optional;
import org.cloister.host.ticket.Claims;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What this host hears of its link to a relay that is not for a VM of it. */
final class OwnLink implements AgentEvents {
    private static final Logger LOG = LoggerFactory.getLogger(OwnLink.class);

    private final Claims claims;
    private final Claims.Heads heads;

    OwnLink(Claims claims, Claims.Heads heads) {
        this.claims = claims;
        this.heads = heads;
    }

    @Override
    public void attached(Attachment attachment) {
        attachment.link().peer().ifPresent(relay -> {
            LOG.info("relay: attached to {}", relay.name());
            heads.head(attachment.head().toByteArray(), relay);
        });
        claims.attached(attachment.link());
    }

    /** A host serves no name of its own. */
    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        LOG.warn("relay: want names of VMs here, have {}", name);
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.UNKNOWN);
    }

    @Override
    public boolean revoked(byte[] signed) {
        return false;
    }

    @Override
    public void refused(IdentityRefused list) {
        LOG.info("relay: a list is not taken: {}", list.getMessage());
    }

    @Override
    public void lost(String why) {
        LOG.warn("relay: link lost: {}", why);
    }

    @Override
    public void renewed(Instant until) {
        LOG.info("certificate renewed until={}", until);
    }

    @Override
    public void notRenewed(String why) {
        LOG.warn("certificate not renewed: {}", why);
    }
}
