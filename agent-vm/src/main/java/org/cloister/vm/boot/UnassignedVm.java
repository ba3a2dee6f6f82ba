package org.cloister.vm.boot;

import java.time.Duration;
import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listener of a VM that has no assignment: it has no name to serve and no peer to connect to, and waits until it is
 * stopped.
 */
public final class UnassignedVm implements AgentLinkListener {
    private static final Logger LOG = LoggerFactory.getLogger(UnassignedVm.class);

    private final Runnable off;

    /**
     * Creates the listener.
     *
     * @param off powers this VM off
     */
    public UnassignedVm(Runnable off) {
        this.off = off;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        LOG.info("the host has no assignment for this VM; it waits until the host stops it");
    }

    @Override
    public void onShutdownRequest(Duration within) {
        LOG.info("the host stops this VM within {} s", within.toSeconds());
        off.run();
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {}

    @Override
    public void onLost(String why) {}
}
