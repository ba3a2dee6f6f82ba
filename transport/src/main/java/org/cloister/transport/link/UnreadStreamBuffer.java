package org.cloister.transport.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelOption;
import io.netty.handler.codec.http2.Http2UnknownFrame;
import io.netty.util.ReferenceCountUtil;
import org.cloister.protocol.link.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * Holds what comes on an HTTP/2 stream faster than it is read, as bytes in one buffer:
 * {@link ProtocolLimits#STREAM_WINDOW_BYTES} at most, however short the frames are. Netty keeps each frame as an
 * object, and the window counts only what is in it; frames of unknown types it does not count at all. The window opens
 * by what was handed on.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a window that cannot be opened shows as the stream's end
public final class UnreadStreamBuffer extends ChannelDuplexHandler {
    /** In the place of trailers: the other side has said all without a word. */
    private static final Object END = new Object();

    private @Nullable ByteBuf bytes;
    /** What is behind the bytes. */
    private @Nullable Object last;
    /** Of the window, by the bytes that are held. */
    private int held;
    /** The same, by what was handed on since more was asked for. */
    private int owed;

    /** Somebody asks for more; nothing is held then. */
    private boolean wanted;

    private boolean handing;
    /** Since the reader has heard that a read is complete. */
    private boolean handed;
    /** Within what the connection's reader does, which flushes when it is through. */
    private boolean flushed;

    private boolean closing;

    private UnreadStreamBuffer() {}

    /** In front of a stream's readers; on other channels than HTTP/2's streams there is nothing to hold. */
    public static void first(Channel channel) {
        if (isMissing(channel)) {
            channel.pipeline().addFirst(new UnreadStreamBuffer());
        }
    }

    /** Behind what is in the pipeline now. */
    public static void last(Channel channel) {
        if (isMissing(channel)) {
            channel.pipeline().addLast(new UnreadStreamBuffer());
        }
    }

    private static boolean isMissing(Channel channel) {
        return channel instanceof Http2StreamChannel && channel.pipeline().get(UnreadStreamBuffer.class) == null;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.channel().config().setOption(Http2StreamChannelOption.AUTO_STREAM_FLOW_CONTROL, false);
        wanted = ctx.channel().config().isAutoRead();
        ctx.read();
    }

    /** The reader asks for more. */
    @Override
    public void read(ChannelHandlerContext ctx) {
        wanted = true;
        if (handing) {
            return;
        }
        open(ctx);
        if (isHolding()) {
            handOn(ctx);
        }
        ctx.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        flushed = true;
        if (message instanceof Http2UnknownFrame) {
            ReferenceCountUtil.release(message);
        } else if (wanted && !handing && !isHolding()) {
            owed += message instanceof Http2DataFrame data ? data.initialFlowControlledBytes() : 0;
            pass(ctx, message);
        } else if (message instanceof Http2DataFrame data) {
            hold(ctx, data);
        } else {
            // Trailers, behind which a stream has nothing.
            last = message;
        }
        flushed = false;
    }

    private void hold(ChannelHandlerContext ctx, Http2DataFrame data) {
        ByteBuf all = bytes == null ? ctx.alloc().buffer(data.content().readableBytes()) : bytes;
        bytes = all;
        held += data.initialFlowControlledBytes();
        all.writeBytes(data.content());
        if (data.isEndStream()) {
            last = END;
        }
        data.release();
    }

    /** What comes is held, and so read at once, whether somebody asks for it or not. */
    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        flushed = true;
        if (handed) {
            handed = false;
            ctx.fireChannelReadComplete();
        }
        flushed = false;
        ctx.read();
    }

    private boolean isHolding() {
        return bytes != null || last != null;
    }

    /** As long as somebody asks for it. */
    private void handOn(ChannelHandlerContext ctx) {
        handing = true;
        while (wanted && isHolding()) {
            open(ctx);
            pass(ctx, next());
        }
        handing = false;
        handed = false;
        ctx.fireChannelReadComplete();
        if (wanted) {
            open(ctx);
        }
    }

    private Object next() {
        ByteBuf all = bytes;
        Object behind = last;
        if (all == null && behind != null && behind != END) {
            last = null;
            return behind;
        }
        owed += held;
        held = 0;
        bytes = null;
        if (behind == END) {
            last = null;
        }
        return all == null ? new DefaultHttp2DataFrame(behind == END) : new DefaultHttp2DataFrame(all, behind == END);
    }

    private void pass(ChannelHandlerContext ctx, Object message) {
        wanted = false;
        handed = true;
        ctx.fireChannelRead(message);
        wanted |= ctx.channel().config().isAutoRead();
    }

    private void open(ChannelHandlerContext ctx) {
        if (owed > 0 && ctx.channel().isActive()) {
            ctx.write(new DefaultHttp2WindowUpdateFrame(owed));
            if (!flushed) {
                // The stream's own flush knows nothing of it.
                ctx.channel().parent().flush();
            }
        }
        owed = 0;
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closing = true;
        ctx.close(promise);
    }

    /** Both sides have said all, or the connection has ended: the rest is handed on at once, unless nobody wants it. */
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        while (!closing && isHolding()) {
            pass(ctx, next());
        }
        if (handed) {
            handed = false;
            ctx.fireChannelReadComplete();
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        ReferenceCountUtil.release(bytes);
        if (last != END) {
            ReferenceCountUtil.release(last);
        }
        bytes = null;
        last = null;
    }
}
