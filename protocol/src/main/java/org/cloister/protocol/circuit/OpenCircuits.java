package org.cloister.protocol.circuit;

import io.netty.channel.EventLoop;
import java.util.function.Consumer;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.OpenIdentities;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Looking;

/** A party's open circuits: each ends within a second of its peer's being believed no more. From any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class OpenCircuits implements AutoCloseable {
    private final Beliefs beliefs;
    private final OpenIdentities<Circuit> open = new OpenIdentities<>();
    private final Consumer<OpenIdentities.Ended<Circuit>> hearer;
    private final Looking looking;

    /** @param hearer told of each circuit that is ended, for the log, on {@code loop} */
    public OpenCircuits(Beliefs beliefs, EventLoop loop, Consumer<OpenIdentities.Ended<Circuit>> hearer) {
        this.beliefs = beliefs;
        this.hearer = hearer;
        this.looking = new Looking(loop, this::look);
    }

    public void add(Circuit circuit) {
        open.opened(circuit, circuit.peer());
        circuit.channel().closeFuture().addListener(closed -> open.closed(circuit));
    }

    private void look() {
        for (OpenIdentities.Ended<Circuit> each : beliefs.end(open)) {
            each.what().end(CloseReason.REVOKED);
            hearer.accept(each);
        }
    }

    /** Looks no more; the circuits stay. */
    @Override
    public void close() {
        looking.close();
    }
}
