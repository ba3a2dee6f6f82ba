package org.cloister.transport.channel;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;

/** Keeps what a stream brings until its reader is there and this is removed; the stream's window bounds it. */
final class StreamBuffer extends ChannelInboundHandlerAdapter {
    private final Queue<Object> messages = new ArrayDeque<>();

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        messages.add(message);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        boolean any = !messages.isEmpty();
        for (Object message = messages.poll(); message != null; message = messages.poll()) {
            ctx.fireChannelRead(message);
        }
        if (any) {
            ctx.fireChannelReadComplete();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        for (Object message = messages.poll(); message != null; message = messages.poll()) {
            ReferenceCountUtil.release(message);
        }
        ctx.fireChannelInactive();
    }
}
