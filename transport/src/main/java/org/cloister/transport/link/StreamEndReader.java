package org.cloister.transport.link;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import org.cloister.protocol.circuit.CircuitClose;

/** Last handler of an agent's stream of messages: closes it at its end, whatever the end is, and reports it once. */
@SuppressWarnings("FutureReturnValueIgnored") // a stream that cannot be closed has ended
abstract class StreamEndReader extends ChannelInboundHandlerAdapter {
    private final String name;
    private boolean over;

    /** @param name of the stream, for the log */
    StreamEndReader(String name) {
        this.name = name;
    }

    /** Called once, as the last event. */
    abstract void onEnd(String why);

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof CircuitClose close) {
            end(ctx, close.toString());
        } else if (event == ChannelInputShutdownEvent.INSTANCE) {
            end(ctx, "the relay ended the " + name);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end(ctx, "the connection is lost");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        Throwable why = cause.getCause() instanceof IOException ? cause.getCause() : cause;
        end(ctx, String.valueOf(why.getMessage()));
    }

    private void end(ChannelHandlerContext ctx, String why) {
        if (!over) {
            over = true;
            ctx.close();
            onEnd(why);
        }
    }
}
