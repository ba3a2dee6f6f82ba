package org.cloister.transport.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import org.cloister.protocol.circuit.CircuitClose;
import org.jspecify.annotations.Nullable;

/**
 * Makes an HTTP/2 stream's channel one of bytes. The head of a request or response comes as a {@link Head} event, the
 * other side's end as {@link ChannelInputShutdownEvent}, what it says about the end before that as a
 * {@link CircuitClose}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the writer has the promise
public final class StreamBytes extends ChannelDuplexHandler {
    /** A request's or response's header fields. */
    public record Head(Http2Headers headers, boolean last) {}

    private @Nullable ChannelHandlerContext ctx;
    private boolean headed;
    private boolean ended;

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        this.ctx = context;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof Http2DataFrame data) {
            if (data.content().isReadable()) {
                context.fireChannelRead(data.content());
            } else {
                data.release();
            }
            if (data.isEndStream()) {
                context.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            }
        } else if (message instanceof Http2HeadersFrame frame) {
            if (headed) {
                StreamRequest.close(frame.headers()).ifPresent(context::fireUserEventTriggered);
            } else {
                headed = true;
                context.fireUserEventTriggered(new Head(frame.headers(), frame.isEndStream()));
            }
            if (frame.isEndStream()) {
                context.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            }
        } else {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            context.write(new DefaultHttp2DataFrame(bytes), promise);
        } else {
            context.write(message, promise);
        }
    }

    /** No more bytes from here; the other direction goes on. On the channel's event loop. */
    public ChannelFuture shutdownOutput() {
        return end(new DefaultHttp2DataFrame(true));
    }

    /** The same, and says why. */
    public ChannelFuture shutdownOutput(CircuitClose close) {
        return end(trailers(close));
    }

    private ChannelFuture end(Object frame) {
        ChannelHandlerContext context = ctx;
        if (context == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        if (ended) {
            return context.newSucceededFuture();
        }
        ended = true;
        return context.writeAndFlush(frame);
    }

    /** Header fields after the last byte. */
    public static Http2HeadersFrame trailers(CircuitClose close) {
        return new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().set(StreamRequest.CLOSE, close.toString()), true);
    }
}
