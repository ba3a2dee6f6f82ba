package org.cloister.transport.circuit;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.UnreadStreamBuffer;

/**
 * Two streams made one circuit. Passes each DATA frame's buffer on as it came and reads from a side only while the other
 * one takes. Each stream may be on an event loop of its own, and its reading is switched on that loop alone.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class CircuitSplice {
    /** How long nothing may move, and how long a circuit may live at all. */
    public record Limits(Duration idle, Duration total) {}

    /** What is counted of a circuit; called on both streams' event loops. */
    @FunctionalInterface
    public interface Meter {
        void onBytes(int bytes);
    }

    /**
     * One of the two streams.
     *
     * @param who is behind it; a stream to a relay may end for any of the three, and its word about who is passed on
     */
    public record End(Channel stream, CircuitClose.Side who) {}

    /** @param ended whether END_STREAM is on its way to it: a second one would end the whole connection */
    private record Side(Channel stream, CircuitClose.Side who, AtomicBoolean ended) {
        static Side of(End end) {
            return new Side(end.stream, end.who, new AtomicBoolean());
        }

        boolean isComplete() {
            return ended.compareAndSet(false, true);
        }
    }

    private final Side opener;
    private final Side target;
    private final Limits limits;
    private final Meter meter;
    private final Consumer<CircuitClose> ended;
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong progressNs = new AtomicLong(System.nanoTime());
    private final long startNs = System.nanoTime();
    private final AtomicBoolean half = new AtomicBoolean();

    /** @param ended called once, when the circuit is over */
    public CircuitSplice(Channel opener, Channel target, Limits limits, Meter meter, Consumer<CircuitClose> ended) {
        this(
                new End(opener, CircuitClose.Side.OPENER),
                new End(target, CircuitClose.Side.TARGET),
                limits,
                meter,
                ended);
    }

    /** The same where one of the two goes on to a relay. */
    public CircuitSplice(End opener, End target, Limits limits, Meter meter, Consumer<CircuitClose> ended) {
        this.opener = Side.of(opener);
        this.target = Side.of(target);
        this.limits = limits;
        this.meter = meter;
        this.ended = ended;
    }

    /**
     * From any thread.
     *
     * @param toOpener gives the opener its response, on its stream's event loop; from then on it may send
     * @param toTarget the same for the target
     */
    public void start(Consumer<Channel> toOpener, Consumer<Channel> toTarget) {
        // The opener speaks first (its TLS is the client), so the target's response has to be under way by then.
        join(target, opener, toTarget, () -> join(opener, target, toOpener, this::watch));
    }

    /** Ends it from the middle. From any thread. */
    public void close(CircuitClose close) {
        if (over.compareAndSet(false, true)) {
            tell(opener, close);
            tell(target, close);
            ended.accept(close);
        }
    }

    /** In one step: what comes between a response and its reader would be lost. */
    private void join(Side end, Side other, Consumer<Channel> respond, Runnable next) {
        Channel side = end.stream;
        side.eventLoop().execute(() -> {
            side.config().setAutoRead(over.get());
            UnreadStreamBuffer.last(side);
            side.pipeline().addLast(new Half(end.who, other));
            respond.accept(side);
            if (side.isActive()) {
                side.read();
            } else {
                close(CircuitClose.byRelay(CloseReason.LOST));
            }
            next.run();
        });
    }

    private void watch() {
        if (over.get()) {
            return;
        }
        long now = System.nanoTime();
        long idleFor = now - progressNs.get();
        long livedFor = now - startNs;
        if (idleFor >= limits.idle.toNanos()) {
            close(CircuitClose.byRelay(CloseReason.IDLE));
        } else if (livedFor >= limits.total.toNanos()) {
            close(CircuitClose.byRelay(CloseReason.TOTAL));
        } else {
            long next = Math.min(limits.idle.toNanos() - idleFor, limits.total.toNanos() - livedFor);
            opener.stream.eventLoop().schedule(this::watch, Math.max(next, 1), TimeUnit.NANOSECONDS);
        }
    }

    /**
     * The trailers reach who still reads; a side that stalls learns it from the reset alone. A relay is not reset, for it
     * lets no link go on that resets much, and other circuits are on it: what it still sends is dropped until it ends.
     */
    private static void tell(Side end, CircuitClose close) {
        Channel side = end.stream;
        side.eventLoop().execute(() -> {
            if (!side.isActive()) {
                return;
            }
            if (end.isComplete()) {
                side.writeAndFlush(StreamBytes.trailers(close));
            }
            if (end.who == CircuitClose.Side.RELAY) {
                side.config().setAutoRead(true);
            } else {
                side.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.NO_ERROR))
                        .addListener(done -> side.close());
            }
        });
    }

    private void onSideEnded(CircuitClose close) {
        if (half.getAndSet(true) && over.compareAndSet(false, true)) {
            ended.accept(close);
        }
    }

    /** Reads one side for the other. */
    private final class Half extends ChannelInboundHandlerAdapter {
        private final CircuitClose.Side who;
        private final Side otherSide;
        private final Channel other;
        private boolean waiting;
        private boolean done;

        Half(CircuitClose.Side who, Side otherSide) {
            this.who = who;
            this.otherSide = otherSide;
            this.other = otherSide.stream;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            other.closeFuture().addListener(closed -> {
                if (!ctx.executor().isShuttingDown()) {
                    ctx.executor().execute(this::onOtherGone);
                }
            });
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (over.get() || done) {
                ReferenceCountUtil.release(message);
            } else if (message instanceof Http2DataFrame data) {
                int bytes = data.content().readableBytes();
                progressNs.set(System.nanoTime());
                meter.onBytes(bytes);
                if (data.isEndStream()) {
                    done = true;
                }
                if (bytes > 0 || done) {
                    other.write(new DefaultHttp2DataFrame(data.content(), done && otherSide.isComplete()));
                } else {
                    data.release();
                }
                if (done) {
                    onSideEnded(new CircuitClose(who, CloseReason.DONE));
                }
            } else if (message instanceof Http2HeadersFrame frame && frame.isEndStream()) {
                done = true;
                CircuitClose said =
                        StreamRequest.close(frame.headers()).orElse(new CircuitClose(who, CloseReason.DONE));
                // WHO is the side it came from, whatever that side wrote; a relay speaks for others too.
                CircuitClose close = who == CircuitClose.Side.RELAY ? said : new CircuitClose(who, said.reason());
                if (otherSide.isComplete()) {
                    other.writeAndFlush(StreamBytes.trailers(close));
                }
                onSideEnded(close);
            } else {
                ReferenceCountUtil.release(message);
                close(new CircuitClose(CircuitClose.Side.RELAY, CloseReason.PROTOCOL));
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            other.flush();
            resume(ctx);
        }

        /** Both sides' event loops come here by way of this side's. */
        private void resume(ChannelHandlerContext ctx) {
            waiting = !other.isWritable();
            if (!waiting) {
                ctx.read();
            } else if (other.isWritable()) {
                // It became so between the two looks, and its event may have come before this side waited.
                ctx.executor().execute(() -> onOtherWritable(ctx));
            }
        }

        private void onOtherWritable(ChannelHandlerContext ctx) {
            if (waiting) {
                resume(ctx);
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            if (ctx.channel().isWritable()) {
                other.eventLoop().execute(() -> {
                    ChannelHandlerContext theirs = other.pipeline().context(Half.class);
                    if (theirs != null) {
                        ((Half) theirs.handler()).onOtherWritable(theirs);
                    }
                });
            }
            ctx.fireChannelWritabilityChanged();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof Http2ResetFrame) {
                onGone();
            }
            ctx.fireUserEventTriggered(event);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            onGone();
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            onGone();
        }

        private void onGone() {
            if (!done) {
                done = true;
                close(new CircuitClose(who, CloseReason.LOST));
            }
        }

        /** Nothing that this side still says reaches anybody. */
        private void onOtherGone() {
            if (!done) {
                done = true;
                close(new CircuitClose(otherSide.who, CloseReason.LOST));
            }
        }
    }
}
