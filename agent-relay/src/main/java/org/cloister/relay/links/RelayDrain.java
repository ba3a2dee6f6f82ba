package org.cloister.relay.links;

import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Error;
import java.time.Duration;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.circuits.CircuitBroker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Drains the relay before it stops: it accepts nothing new while open circuits finish. Thread-safe. */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
public final class RelayDrain {
    private static final Logger LOG = LoggerFactory.getLogger(RelayDrain.class);

    private final LinkRegistry registry;
    private final CircuitBroker circuits;
    private final ReconnectSpread reconnect;
    private final Duration limit;
    private volatile boolean draining;

    /** @param limit time that open circuits have to finish */
    public RelayDrain(LinkRegistry registry, CircuitBroker circuits, ReconnectSpread reconnect, Duration limit) {
        this.registry = registry;
        this.circuits = circuits;
        this.reconnect = reconnect;
        this.limit = limit;
    }

    public boolean isDraining() {
        return draining;
    }

    /** Stops accepting work, notifies the agents, and returns when the open circuits have ended or the time is over. */
    public void drain(LinkListener listener) throws InterruptedException {
        draining = true;
        circuits.drain();
        listener.stopListening();
        ReconnectDelay delay = reconnect.delay();
        LOG.info("draining links={} circuits={}", registry.links().size(), circuits.openCircuits());
        for (RelayLink link : registry.links()) {
            link.send(new RelayMessage.Drain(delay));
            link.connection().writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
        }
        long endNs = System.nanoTime() + limit.toNanos();
        while (circuits.openCircuits() > 0 && System.nanoTime() - endNs < 0) {
            Thread.sleep(20);
        }
        circuits.closeAllCircuits(CloseReason.DRAINING);
    }
}
