package org.cloister.relay.circuits;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.transport.link.StreamResponse;

/**
 * Stream of a link whose request was read and has no response yet.
 *
 * @param version the protocol version of the response
 * @param reader the handler that read the request; it leaves the stream with the positive response
 */
public record RequestedStream(Channel channel, int version, ChannelHandler reader) {
    /**
     * Sends the positive response. Must be called on the stream's event loop, after the stream's own handlers are
     * installed.
     */
    public void accept() {
        channel.pipeline().remove(reader);
        StreamResponse.accept(channel, version);
    }

    /** Refuses the request, which ends the stream. Thread-safe. */
    public void refuse(CircuitClose close) {
        StreamResponse.refuse(channel, close);
    }
}
