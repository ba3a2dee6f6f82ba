package org.cloister.transport.link;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2PingFrame;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection from which nothing was received for a long time. The dialling side sends a ping before that, and
 * also when it has sent nothing itself for a long time, however much it receives: only pings then show the other side
 * that it is alive. Placed before HTTP/2's codec.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed ping leads to the time-out
final class LinkKeepAlive extends ChannelDuplexHandler {
    private final boolean asks;
    private final long pingNs;
    private final long deadNs;
    private long lastReadNs = System.nanoTime();
    private long lastWriteNs = lastReadNs;
    private @Nullable ScheduledFuture<?> timer;

    LinkKeepAlive(boolean asks, long pingNs, long deadNs) {
        this.asks = asks;
        this.pingNs = pingNs;
        this.deadNs = deadNs;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        timer = ctx.executor().scheduleAtFixedRate(() -> tick(ctx), pingNs, pingNs, TimeUnit.NANOSECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        lastReadNs = System.nanoTime();
        ctx.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        lastWriteNs = System.nanoTime();
        ctx.write(message, promise);
    }

    private void tick(ChannelHandlerContext ctx) {
        long now = System.nanoTime();
        if (now - lastReadNs >= deadNs) {
            ctx.close();
        } else if (asks && now - Math.min(lastReadNs, lastWriteNs) >= pingNs) {
            ctx.channel().writeAndFlush(new DefaultHttp2PingFrame(1));
        }
    }
}
