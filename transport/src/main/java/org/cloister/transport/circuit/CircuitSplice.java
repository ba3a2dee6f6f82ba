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
 * Splices the two streams of a circuit. It forwards each DATA frame's buffer unchanged and reads from a side only while
 * the other one accepts bytes. Each stream may have its own event loop, and its reading is switched on that loop only.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
public final class CircuitSplice {
    /** Longest time without progress, and longest lifetime of a circuit. */
    public record Limits(Duration idle, Duration total) {}

    /** Counts the bytes of a circuit; called on both streams' event loops. */
    @FunctionalInterface
    public interface Meter {
        void onBytes(int bytes);
    }

    /**
     * Stream of one side.
     *
     * @param who the side behind the stream; a stream to a relay may end because of any of the three sides, and the
     *     relay's statement of which one is forwarded
     */
    public record End(Channel stream, CircuitClose.Side who) {}

    /**
     * Side of the splice with its stream.
     *
     * @param ended whether END_STREAM was sent or is being sent: a second one would end the whole connection
     */
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

    /** @param ended called once, when the circuit has ended */
    public CircuitSplice(Channel opener, Channel target, Limits limits, Meter meter, Consumer<CircuitClose> ended) {
        this(
                new End(opener, CircuitClose.Side.OPENER),
                new End(target, CircuitClose.Side.TARGET),
                limits,
                meter,
                ended);
    }

    /** Creates a splice of which one side may lead to a relay. */
    public CircuitSplice(End opener, End target, Limits limits, Meter meter, Consumer<CircuitClose> ended) {
        this.opener = Side.of(opener);
        this.target = Side.of(target);
        this.limits = limits;
        this.meter = meter;
        this.ended = ended;
    }

    /**
     * Starts the splice. Thread-safe.
     *
     * @param toOpener sends the opener its response, on its stream's event loop; then the opener may send
     * @param toTarget the same for the target
     */
    public void start(Consumer<Channel> toOpener, Consumer<Channel> toTarget) {
        // The opener sends first (it is the TLS client), so the target's response must be sent before that.
        join(target, opener, toTarget, () -> join(opener, target, toOpener, this::watch));
    }

    /** Ends the circuit at both sides. Thread-safe. */
    public void close(CircuitClose close) {
        if (over.compareAndSet(false, true)) {
            sendClose(opener, close);
            sendClose(target, close);
            ended.accept(close);
        }
    }

    /** Sends the response and installs the reader in one step: bytes that arrive between the two would be lost. */
    private void join(Side end, Side other, Consumer<Channel> respond, Runnable next) {
        Channel side = end.stream;
        side.eventLoop().execute(() -> {
            side.config().setAutoRead(over.get());
            UnreadStreamBuffer.addLast(side);
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
     * Sends the reason to a side. A side that still reads receives the trailers; a stalled side receives only the
     * reset. A relay's stream is not reset, because the relay ends a link with many resets, and with it other circuits:
     * what it still sends is dropped until it ends.
     */
    private static void sendClose(Side end, CircuitClose close) {
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

    /** Reads one side and writes to the other. */
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
                CircuitClose reason =
                        StreamRequest.close(frame.headers()).orElse(new CircuitClose(who, CloseReason.DONE));
                // A side can end the circuit in its own name only; a relay also reports the ends of others.
                CircuitClose close = who == CircuitClose.Side.RELAY ? reason : new CircuitClose(who, reason.reason());
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

        /** Continues reading if the other side is writable; always called on this side's event loop. */
        private void resume(ChannelHandlerContext ctx) {
            waiting = !other.isWritable();
            if (!waiting) {
                ctx.read();
            } else if (other.isWritable()) {
                // It became writable between the two checks, and its event may have preceded this wait.
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

        /** Ends the circuit because the other side is gone and can receive nothing more. */
        private void onOtherGone() {
            if (!done) {
                done = true;
                close(new CircuitClose(otherSide.who, CloseReason.LOST));
            }
        }
    }
}
