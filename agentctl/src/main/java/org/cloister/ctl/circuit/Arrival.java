package org.cloister.ctl.circuit;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;

/** Waits for the first attachment; a command does not try twice. */
final class Arrival implements AgentEvents {
    private static final long WAIT_S = 60;

    private final CompletableFuture<Attachment> first = new CompletableFuture<>();

    Attachment await() throws IOException, InterruptedException {
        try {
            return first.get(WAIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException io ? io : new IOException("relay: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new IOException("relay: want an answer within " + WAIT_S + " s, have none", e);
        }
    }

    @Override
    public void attached(Attachment attachment) {
        first.complete(attachment);
    }

    @Override
    public void lost(String why) {
        first.completeExceptionally(new IOException("relay: " + why));
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        throw new IllegalStateException("this command serves nobody, not " + name);
    }

    /** This command serves nobody. */
    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    @Override
    public boolean revoked(byte[] signed) {
        return false;
    }
}
