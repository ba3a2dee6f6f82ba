package org.cloister.transport.circuit;

import io.netty.channel.EventLoop;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.RevocableSessions;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.link.PeriodicCheck;

/** A party's open circuits: each ends within a second of its peer's being believed no more. From any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class OpenCircuits implements AutoCloseable {
    private final TrustStore beliefs;
    private final RevocableSessions<Circuit> open = new RevocableSessions<>();
    private final Consumer<RevocableSessions.RevokedSession<Circuit>> hearer;
    private final PeriodicCheck looking;

    /** @param hearer told of each circuit that is ended, for the log, on {@code loop} */
    public OpenCircuits(
            TrustStore beliefs, EventLoop loop, Consumer<RevocableSessions.RevokedSession<Circuit>> hearer) {
        this.beliefs = beliefs;
        this.hearer = hearer;
        this.looking = new PeriodicCheck(loop, this::look);
    }

    public void add(Circuit circuit) {
        open.add(circuit, circuit.peer());
        circuit.channel().closeFuture().addListener(closed -> open.remove(circuit));
    }

    private void look() {
        for (RevocableSessions.RevokedSession<Circuit> each : beliefs.removeRevoked(open)) {
            each.what().close(CloseReason.REVOKED);
            hearer.accept(each);
        }
    }

    /** Looks no more; the circuits stay. */
    @Override
    public void close() {
        looking.close();
    }
}
