package org.cloister.ctl.circuit;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.transport.link.AgentLinkListener;

/**
 * Waits for one event of a command's link to a relay. A command does not retry, and serves no names or circuits.
 *
 * @param <T> what the event brings
 */
public abstract class LinkEventWaiter<T> implements AgentLinkListener {
    private static final long WAIT_S = 60;

    private final String relay;
    private final CompletableFuture<T> first = new CompletableFuture<>();

    /** @param relay subject of errors */
    protected LinkEventWaiter(String relay) {
        this.relay = relay;
    }

    /**
     * Returns what the event brought.
     *
     * @throws NoLinkException if the link was lost before, or nothing happened within a minute
     */
    public T await() throws NoLinkException, InterruptedException {
        try {
            return first.get(WAIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof NoLinkException lost
                    ? lost
                    : new NoLinkException(relay + ": " + e.getCause());
        } catch (TimeoutException e) {
            throw new NoLinkException(relay + ": no answer within " + WAIT_S + " s");
        }
    }

    protected void complete(T event) {
        first.complete(event);
    }

    @Override
    public void onLost(String why) {
        first.completeExceptionally(new NoLinkException(relay + ": " + why));
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        throw new IllegalStateException("a command serves no names, not " + name);
    }
}
