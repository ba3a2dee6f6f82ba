package org.cloister.vm.boot;

import java.time.Duration;
import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A VM that was not told what it is for: it has no name to serve and nobody to speak to, and waits. */
public final class UnassignedVm implements AgentLinkListener {
    private static final Logger LOG = LoggerFactory.getLogger(UnassignedVm.class);

    private final Runnable off;

    /** @param off ends this VM */
    public UnassignedVm(Runnable off) {
        this.off = off;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        LOG.info("the host gave no assignment; this VM has nothing to do, and stays attached");
    }

    @Override
    public void onShutdownRequest(Duration within) {
        LOG.info("the host ends this VM within {} s, and it has nothing to leave", within.toSeconds());
        off.run();
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {}

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    /** Of a project or a site that nobody here has heard of. */
    @Override
    public boolean onRevocationList(byte[] signed) {
        return false;
    }

    @Override
    public void onLost(String why) {}
}
