package org.cloister.transport.circuit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.transport.circuit.PathFault.Direction;
import org.cloister.transport.circuit.PathFault.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The path of one circuit, which counts its TLS records and has at most one {@link PathFault}. Its two handlers stand where
 * frames of the circuit's stream come in: at a relay in front of the splice, or at both ends in front of {@code StreamBytes}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class FaultyPath {
    /** Of silence, after which a circuit that lost something ends: both ends have said what they can. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private static final int HEADER_BYTES = 5;
    private static final int LENGTH_AT = 3;

    private final Optional<PathFault> fault;
    private final AtomicInteger toTarget = new AtomicInteger();
    private final AtomicInteger toOpener = new AtomicInteger();
    private final AtomicBoolean happened = new AtomicBoolean();
    private final AtomicLong movedNs = new AtomicLong(System.nanoTime());
    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();
    private volatile Runnable cut = this::closeAll;

    public FaultyPath(Optional<PathFault> fault) {
        this.fault = fault;
    }

    public static FaultyPath sound() {
        return new FaultyPath(Optional.empty());
    }

    /** How the circuit is ended from the middle; otherwise the channels of both handlers are closed. */
    public void cutBy(Runnable end) {
        cut = end;
    }

    /** For the side that the opener's frames come in at. */
    public ChannelHandler toTarget() {
        return new Records(Direction.TO_TARGET, toTarget);
    }

    /** For the side that the target's frames come in at. */
    public ChannelHandler toOpener() {
        return new Records(Direction.TO_OPENER, toOpener);
    }

    /** Whole records that came, those among them that were lost. */
    public int records(Direction direction) {
        return (direction == Direction.TO_TARGET ? toTarget : toOpener).get();
    }

    /** Whether the fault's record came. */
    public boolean happened() {
        return happened.get();
    }

    private void closeAll() {
        channels.forEach(Channel::close);
    }

    /** One direction, cut into whole records. On its channel's event loop. */
    private final class Records extends ChannelInboundHandlerAdapter {
        private final Direction direction;
        private final AtomicInteger count;
        private ByteBuf unread = Unpooled.buffer();
        private boolean stalled;

        Records(Direction direction, AtomicInteger count) {
            this.direction = direction;
            this.count = count;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channels.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (!(message instanceof Http2DataFrame data)) {
                pass(ctx, message);
                return;
            }
            movedNs.set(System.nanoTime());
            try {
                unread.writeBytes(data.content());
                for (ByteBuf record = next(); record != null; record = next()) {
                    receive(ctx, record);
                }
                if (data.isEndStream()) {
                    pass(ctx, new DefaultHttp2DataFrame(unread, true));
                    unread = Unpooled.buffer();
                }
            } finally {
                data.release();
            }
        }

        private @Nullable ByteBuf next() {
            if (unread.readableBytes() < HEADER_BYTES) {
                return null;
            }
            int length = HEADER_BYTES + unread.getUnsignedShort(unread.readerIndex() + LENGTH_AT);
            return unread.readableBytes() < length ? null : unread.readBytes(length);
        }

        private void receive(ChannelHandlerContext ctx, ByteBuf record) {
            int number = count.getAndIncrement();
            Kind kind = fault.filter(each -> each.direction() == direction && each.record() == number)
                    .map(PathFault::kind)
                    .orElse(null);
            if (kind == null) {
                pass(ctx, new DefaultHttp2DataFrame(record));
                return;
            }
            happened.set(true);
            if (kind == Kind.CUT_AFTER) {
                pass(ctx, new DefaultHttp2DataFrame(record));
            } else {
                record.release();
            }
            stalled = kind != Kind.SKIP;
            if (kind == Kind.CUT_BEFORE || kind == Kind.CUT_AFTER) {
                cut.run();
            } else {
                watch(ctx);
            }
        }

        private void pass(ChannelHandlerContext ctx, Object message) {
            if (stalled) {
                ReferenceCountUtil.release(message);
            } else {
                ctx.fireChannelRead(message);
            }
        }

        private void watch(ChannelHandlerContext ctx) {
            long leftNs = QUIET_NS - (System.nanoTime() - movedNs.get());
            if (leftNs <= 0) {
                cut.run();
            } else {
                ctx.channel().eventLoop().schedule(() -> watch(ctx), leftNs, TimeUnit.NANOSECONDS);
            }
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            unread.release();
            unread = Unpooled.EMPTY_BUFFER;
        }
    }
}
