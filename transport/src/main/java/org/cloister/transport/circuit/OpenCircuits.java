package org.cloister.transport.circuit;

import io.netty.channel.EventLoop;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.RevocableSessions;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.link.PeriodicCheck;

/** Open circuits of an agent: each is ended within a second after its peer is no longer trusted. Thread-safe. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
public final class OpenCircuits implements AutoCloseable {
    private final TrustStore trustStore;
    private final RevocableSessions<Circuit> open = new RevocableSessions<>();
    private final Consumer<RevocableSessions.RevokedSession<Circuit>> listener;
    private final PeriodicCheck check;

    /** @param listener receives each circuit that was ended, for the log, on {@code loop} */
    public OpenCircuits(
            TrustStore trustStore, EventLoop loop, Consumer<RevocableSessions.RevokedSession<Circuit>> listener) {
        this.trustStore = trustStore;
        this.listener = listener;
        this.check = new PeriodicCheck(loop, this::check);
    }

    public void add(Circuit circuit) {
        open.add(circuit, circuit.peer());
        circuit.channel().closeFuture().addListener(closed -> open.remove(circuit));
    }

    private void check() {
        for (RevocableSessions.RevokedSession<Circuit> each : trustStore.removeRevoked(open)) {
            each.what().close(CloseReason.REVOKED);
            listener.accept(each);
        }
    }

    /** Stops the checks; the circuits stay open. */
    @Override
    public void close() {
        check.close();
    }
}
