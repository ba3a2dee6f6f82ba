package org.cloister.relay.links;

import io.netty.buffer.ByteBuf;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.RelayMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends messages to attached agents, and closes the link of an agent that does not read them. Thread-safe. */
public final class LinkMessenger {
    private static final Logger LOG = LoggerFactory.getLogger(LinkMessenger.class);

    private final RelayMetrics metrics;

    public LinkMessenger(RelayMetrics metrics) {
        this.metrics = metrics;
    }

    void send(RelayLink link, RelayMessage message) {
        closeUnless(link.send(message), link);
    }

    /** @param frame the encoded list */
    void sendRevocationList(RelayLink link, RevocationList list, ByteBuf frame) {
        closeUnless(link.sendRevocationList(list, frame), link);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
    private void closeUnless(boolean sent, RelayLink link) {
        if (!sent) {
            metrics.slowAgentsClosed.inc();
            LOG.warn("closing link peer={} reason=\"the agent does not read its attach stream\"", link.peer);
            link.close();
        }
    }
}
