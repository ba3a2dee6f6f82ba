package org.cloister.ctl.circuit;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;

/** Waits for the first attachment to a relay; a command does not retry. */
final class AttachmentWaiter implements AgentLinkListener {
    private static final long WAIT_S = 60;

    private final CompletableFuture<AgentAttachStream> first = new CompletableFuture<>();

    AgentAttachStream await() throws IOException, InterruptedException {
        try {
            return first.get(WAIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException io ? io : new IOException("relay: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new IOException("relay: no answer within " + WAIT_S + " s", e);
        }
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        first.complete(attachment);
    }

    @Override
    public void onLost(String why) {
        first.completeExceptionally(new IOException("relay: " + why));
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        throw new IllegalStateException("this command serves nobody, not " + name);
    }

    /** Refuses: this command serves no circuits. */
    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        return false;
    }
}
