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
 * Turns an HTTP/2 stream's channel into one of bytes. The header fields of a request or response arrive as a
 * {@link Head} event, the other side's end as {@link ChannelInputShutdownEvent}, and its reason before that as a
 * {@link CircuitClose}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the writer holds the promise
public final class StreamBytes extends ChannelDuplexHandler {
    /** Header fields of a request or response. */
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

    /** Ends the output; the other direction stays open. Call it on the channel's event loop. */
    public ChannelFuture shutdownOutput() {
        return writeEnd(new DefaultHttp2DataFrame(true));
    }

    /** Ends the output and sends the reason. */
    public ChannelFuture shutdownOutput(CircuitClose close) {
        return writeEnd(trailers(close));
    }

    private ChannelFuture writeEnd(Object frame) {
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

    /** Returns header fields to be sent after the last byte. */
    public static Http2HeadersFrame trailers(CircuitClose close) {
        return new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().set(StreamRequest.CLOSE, close.toString()), true);
    }
}
