package org.cloister.transport.circuit;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.Promise;
import java.security.cert.CertificateException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.circuit.wire.Hello;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.UnreadStreamBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Own end of a circuit on its stream's channel: TLS, the two hellos, then bytes. The application's handlers follow it
 * and receive {@link ByteBuf}s, a {@link ChannelInputShutdownEvent} when the other end has sent everything, and a
 * {@link CircuitException} when the circuit failed.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
final class CircuitEndpoint extends ChannelInboundHandlerAdapter {
    private static final String FRAMING = "hello";

    private final CircuitTerms terms;
    private final ProtocolVersions ours;
    private final Half half;
    private final Promise<Circuit> promise;
    private final Circuit.Application application;
    private @Nullable Circuit circuit;
    private @Nullable CircuitClose closeReason;
    private boolean isCloseSent;
    private boolean over;

    /** Own side of the circuit, with its TLS engine and the peer that its handshake verifies. */
    record Half(CircuitClose.Side own, SSLEngine engine, CircuitHandshakePeer peer) {}

    private CircuitEndpoint(
            CircuitTerms terms,
            ProtocolVersions ours,
            Half half,
            Promise<Circuit> promise,
            Circuit.Application application) {
        this.terms = terms;
        this.ours = ours;
        this.half = half;
        this.promise = promise;
        this.application = application;
    }

    /** Installs the end on the stream's event loop, immediately after the response was received or sent. */
    static void install(
            ChannelPipeline pipeline,
            Half half,
            CircuitTerms terms,
            ProtocolVersions ours,
            Promise<Circuit> promise,
            Circuit.Application application) {
        UnreadStreamBuffer.addFirst(pipeline.channel());
        SslHandler tls = new SslHandler(half.engine);
        tls.setHandshakeTimeoutMillis(ProtocolLimits.TLS_HANDSHAKE.toMillis());
        // The order matters: TLS starts its handshake when it is added.
        pipeline.addLast(FRAMING, new MessageFraming(ProtocolLimits.HELLO_BYTES, CircuitTerms::readHello));
        pipeline.addLast(new CircuitEndpoint(terms, ours, half, promise, application));
        pipeline.addBefore(FRAMING, null, tls);
    }

    /** Starts the timer that ends a handshake or hello which the other end delays. */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.executor()
                .schedule(
                        () -> {
                            if (circuit == null) {
                                fail(ctx, CircuitClose.byRelay(CloseReason.NO_ANSWER), null);
                            }
                        },
                        ProtocolLimits.HELLO_TIME.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                ctx.writeAndFlush(MessageFraming.frame(terms.hello(ours)));
            } else {
                fail(ctx, why(handshake.cause()), handshake.cause());
            }
        } else if (event == SslCloseCompletionEvent.SUCCESS) {
            isCloseSent = true;
            ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        } else if (event instanceof CircuitClose close) {
            closeReason = close;
        } else if (event == ChannelInputShutdownEvent.INSTANCE) {
            if (!isCloseSent) {
                fail(ctx, cut(), null);
            }
        } else if (!(event instanceof SslCloseCompletionEvent)) {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!(message instanceof Hello hello)) {
            ctx.fireChannelRead(message);
            return;
        }
        try {
            int version = terms.agree(hello, ours, half.own);
            circuit = new Circuit(
                    ctx.channel(), terms, half.own, version, half.peer.found().orElseThrow());
            application.install(ctx.pipeline(), circuit);
            promise.trySuccess(circuit);
            // From here on, bytes after the hello go to the application.
            ctx.pipeline().remove(FRAMING);
        } catch (CircuitException e) {
            fail(ctx, e);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (!isCloseSent) {
            fail(ctx, cut(), null);
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(ctx, why(cause), cause);
    }

    /** Returns the reason that the relay sent, which may be false. */
    private CircuitClose cut() {
        return closeReason != null ? closeReason : CircuitClose.byRelay(CloseReason.LOST);
    }

    private CircuitClose why(Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof CertificateException) {
                return new CircuitClose(half.own, CloseReason.UNTRUSTED);
            }
        }
        return cause instanceof DecoderException || cause instanceof javax.net.ssl.SSLException
                ? closeReason != null ? closeReason : new CircuitClose(half.own, CloseReason.PROTOCOL)
                : cut();
    }

    private void fail(ChannelHandlerContext ctx, CircuitClose close, @Nullable Throwable cause) {
        fail(ctx, new CircuitException("circuit from " + terms.from() + " to " + terms.to(), close, cause));
    }

    private void fail(ChannelHandlerContext ctx, CircuitException why) {
        if (over) {
            return;
        }
        over = true;
        if (!promise.tryFailure(why) && circuit != null) {
            ctx.fireExceptionCaught(why);
        }
        if (why.close().side() == half.own) {
            ctx.pipeline().get(StreamBytes.class).shutdownOutput(why.close());
        }
        ctx.close();
    }
}
