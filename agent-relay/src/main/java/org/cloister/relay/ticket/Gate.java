package org.cloister.relay.ticket;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.cloister.protocol.link.LinkLimits;

/** Reads no more of a stream while as many of its messages as may be wait for their answers. On the stream's event loop. */
final class Gate extends ChannelInboundHandlerAdapter {
    private final Channel stream;
    private int unanswered;

    Gate(Channel stream) {
        this.stream = stream;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        unanswered++;
        if (unanswered >= LinkLimits.UNANSWERED) {
            stream.config().setAutoRead(false);
        }
        ctx.fireChannelRead(message);
    }

    /** From any thread. */
    void answered() {
        stream.eventLoop().execute(() -> {
            unanswered--;
            if (unanswered < LinkLimits.UNANSWERED && !stream.config().isAutoRead()) {
                stream.config().setAutoRead(true);
            }
        });
    }
}
