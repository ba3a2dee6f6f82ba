package org.cloister.host.daemon;

import java.time.Instant;
import java.util.Optional;
import org.cloister.host.tickets.TicketClaims;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles link events that do not concern a VM of this host. */
final class HostLinkListener implements AgentLinkListener {
    private static final Logger LOG = LoggerFactory.getLogger(HostLinkListener.class);

    private final TicketClaims claims;
    private final TicketClaims.AuditHeadListener heads;

    HostLinkListener(TicketClaims claims, TicketClaims.AuditHeadListener heads) {
        this.claims = claims;
        this.heads = heads;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachment.link().peer().ifPresent(relay -> {
            LOG.info("relay: attached to {}", relay.name());
            heads.onHead(attachment.head().toByteArray(), relay);
        });
        claims.attached(attachment.link());
    }

    /** Logs a warning: a host serves no name of its own. */
    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        LOG.warn("relay: it answered a claim to the name {}, which is no VM of this host", name);
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.UNKNOWN);
    }

    @Override
    public void onListRefused(IdentityRefusedException list) {
        LOG.info("relay: revocation list refused: {}", list.getMessage());
    }

    @Override
    public void onLost(String why) {
        LOG.warn("relay: link lost: {}", why);
    }

    @Override
    public void onRenewed(Instant until) {
        LOG.info("certificate renewed valid-until={}", until);
    }

    @Override
    public void onRenewalFailed(String why) {
        LOG.warn("certificate not renewed: {}", why);
    }
}
