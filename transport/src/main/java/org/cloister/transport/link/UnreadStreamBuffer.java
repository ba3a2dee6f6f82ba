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
 * Buffers what an HTTP/2 stream receives faster than it is read, as bytes in one buffer of at most
 * {@link ProtocolLimits#STREAM_WINDOW_BYTES}, however short the frames are. Netty keeps each frame as an object, and
 * the window counts only a frame's content, and frames of unknown types not at all. The window opens by the bytes that
 * were passed on.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed window update is reported as the stream's end
public final class UnreadStreamBuffer extends ChannelDuplexHandler {
    /** Replaces the trailers if the other side ended the stream without any. */
    private static final Object END = new Object();

    private @Nullable ByteBuf bytes;
    /** End of the stream, which follows the bytes. */
    private @Nullable Object last;
    /** Part of the window that the buffered bytes use. */
    private int held;
    /** Part of the window that was passed on since the reader last requested more. */
    private int owed;

    /** The reader requests more; nothing is buffered then. */
    private boolean readRequested;

    private boolean handing;
    /** Something was passed on since the reader's last read-complete event. */
    private boolean handed;
    /** The connection's reader is running, which flushes when it is done. */
    private boolean flushed;

    private boolean closing;

    private UnreadStreamBuffer() {}

    /** Adds the buffer before a stream's readers; channels that are not HTTP/2 streams need none. */
    public static void addFirst(Channel channel) {
        if (isMissing(channel)) {
            channel.pipeline().addFirst(new UnreadStreamBuffer());
        }
    }

    /** Adds the buffer after the current handlers. */
    public static void addLast(Channel channel) {
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
        readRequested = ctx.channel().config().isAutoRead();
        ctx.read();
    }

    /** Handles the reader's request for more. */
    @Override
    public void read(ChannelHandlerContext ctx) {
        readRequested = true;
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
        } else if (readRequested && !handing && !isHolding()) {
            owed += message instanceof Http2DataFrame data ? data.initialFlowControlledBytes() : 0;
            pass(ctx, message);
        } else if (message instanceof Http2DataFrame data) {
            hold(ctx, data);
        } else {
            // The message is trailers, which end a stream.
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

    /** Always reads on, because whatever is received is buffered, whether the reader requests it or not. */
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

    /** Passes on the buffered bytes as long as the reader requests them. */
    private void handOn(ChannelHandlerContext ctx) {
        handing = true;
        while (readRequested && isHolding()) {
            open(ctx);
            pass(ctx, next());
        }
        handing = false;
        handed = false;
        ctx.fireChannelReadComplete();
        if (readRequested) {
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
        readRequested = false;
        handed = true;
        ctx.fireChannelRead(message);
        readRequested |= ctx.channel().config().isAutoRead();
    }

    private void open(ChannelHandlerContext ctx) {
        if (owed > 0 && ctx.channel().isActive()) {
            ctx.write(new DefaultHttp2WindowUpdateFrame(owed));
            if (!flushed) {
                // The stream's own flush does not include it.
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

    /**
     * Passes on the rest at once, unless the stream is being closed here: both sides have sent everything, or the
     * connection ended.
     */
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
