package org.cloister.vm.boot;

import java.time.Duration;
import java.util.Optional;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A VM that was not told what it is for: it has no name to serve and nobody to speak to, and waits. */
public final class Unassigned implements AgentEvents {
    private static final Logger LOG = LoggerFactory.getLogger(Unassigned.class);

    private final Runnable off;

    /** @param off ends this VM */
    public Unassigned(Runnable off) {
        this.off = off;
    }

    @Override
    public void attached(Attachment attachment) {
        LOG.info("the host gave no assignment; this VM has nothing to do, and stays attached");
    }

    @Override
    public void askedToLeave(Duration within) {
        LOG.info("the host ends this VM within {} s, and it has nothing to leave", within.toSeconds());
        off.run();
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {}

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    /** Of a project or a site that nobody here has heard of. */
    @Override
    public boolean revoked(byte[] signed) {
        return false;
    }

    @Override
    public void lost(String why) {}
}
