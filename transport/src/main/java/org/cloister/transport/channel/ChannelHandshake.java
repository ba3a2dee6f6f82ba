package org.cloister.transport.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges session marks on an opened port, then replaces itself with the session's handlers. Closes the port if no
 * session is established.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
final class ChannelHandshake extends ChannelInboundHandlerAdapter {
    private static final Duration AGAIN = Duration.ofSeconds(1);

    private final SessionMarkExchange exchange;
    private final Consumer<ChannelPipeline> session;
    private final Promise<Channel> promise;
    private @Nullable ScheduledFuture<?> greeting;
    private @Nullable ScheduledFuture<?> timer;

    /**
     * @param session installs the session's handlers
     * @param promise succeeds when they are installed; fails when the port is closed without a session
     */
    ChannelHandshake(SecureRandom random, Consumer<ChannelPipeline> session, Promise<Channel> promise) {
        byte[] mark = new byte[SessionMark.MARK_BYTES];
        random.nextBytes(mark);
        this.exchange = new SessionMarkExchange(mark);
        this.session = session;
        this.promise = promise;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        ctx.write(Unpooled.wrappedBuffer(SessionMark.interruption()));
        greet(ctx);
        greeting = ctx.executor()
                .scheduleAtFixedRate(() -> greet(ctx), AGAIN.toMillis(), AGAIN.toMillis(), TimeUnit.MILLISECONDS);
        timer = ctx.executor()
                .schedule(
                        () -> fail(ctx, "no session within " + ProtocolLimits.MARK_TIME.toSeconds() + " s"),
                        ProtocolLimits.MARK_TIME.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    private void greet(ChannelHandlerContext ctx) {
        if (exchange.greets()) {
            ctx.writeAndFlush(Unpooled.wrappedBuffer(exchange.greeting()));
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        try {
            ByteBuffer in = bytes.nioBuffer();
            while (in.hasRemaining() && !exchange.established()) {
                Optional<byte[]> answer = exchange.read(in);
                answer.ifPresent(record -> ctx.writeAndFlush(Unpooled.wrappedBuffer(record)));
            }
            bytes.skipBytes(bytes.readableBytes() - in.remaining());
        } catch (MalformedException e) {
            bytes.release();
            fail(ctx, String.valueOf(e.getMessage()));
            return;
        }
        if (!exchange.established()) {
            bytes.release();
            return;
        }
        startHttp2(ctx, bytes);
    }

    private void startHttp2(ChannelHandlerContext ctx, ByteBuf rest) {
        stop();
        if (!promise.setUncancellable()) {
            rest.release();
            ctx.close();
            return;
        }
        session.accept(ctx.pipeline());
        promise.trySuccess(ctx.channel());
        if (rest.isReadable()) {
            ctx.fireChannelRead(rest);
        } else {
            rest.release();
        }
        ctx.pipeline().remove(this);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(ctx, "closed before a session");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(ctx, String.valueOf(cause.getMessage()));
    }

    private void fail(ChannelHandlerContext ctx, String why) {
        stop();
        promise.tryFailure(new IOException("channel: " + why));
        ctx.close();
    }

    private void stop() {
        if (greeting != null) {
            greeting.cancel(false);
        }
        if (timer != null) {
            timer.cancel(false);
        }
    }
}
