package org.cloister.transport.link;

import com.google.protobuf.MessageLite;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelOption;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * Messages on a stream: a 32-bit big-endian length and that many bytes; docs/protocol.md, section 2. A longer length is
 * refused before a byte of the message is kept, and a message that dribbles is given
 * {@link ProtocolLimits#MESSAGE_TIME}. Fails with a {@link MalformedException} in {@code exceptionCaught}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a window that cannot be opened shows as the stream's end
public final class MessageFraming extends ByteToMessageDecoder {
    /** Makes one message of the bytes between two lengths. */
    @FunctionalInterface
    public interface Reader {
        Object read(byte[] message) throws MalformedException;
    }

    private final int maxBytes;
    private final Reader reader;
    private final BooleanSupplier turn;
    private final boolean paced;
    private @Nullable ScheduledFuture<?> patience;
    private @Nullable ChannelHandlerContext own;

    public MessageFraming(int maxBytes, Reader reader) {
        this(maxBytes, reader, () -> true, false);
    }

    /**
     * Reads a message only in its turn. What has come stays bytes until then, in one buffer and not in the frames that it came in,
     * and an HTTP/2 stream's window opens by what was read as messages, not by what came.
     *
     * @param turn asked before each message, on the channel's event loop; after a no, {@link #resume} asks again
     */
    public MessageFraming(int maxBytes, Reader reader, BooleanSupplier turn) {
        this(maxBytes, reader, turn, true);
    }

    private MessageFraming(int maxBytes, Reader reader, BooleanSupplier turn, boolean paced) {
        this.maxBytes = maxBytes;
        this.reader = reader;
        this.turn = turn;
        this.paced = paced;
    }

    /** Reads what has come, as far as it is its turn. On the channel's event loop, and not while a message is handed on. */
    public void resume() {
        ChannelHandlerContext ctx = own;
        if (ctx == null || ctx.isRemoved()) {
            return;
        }
        try {
            channelRead(ctx, Unpooled.EMPTY_BUFFER);
        } catch (Exception e) {
            // As a pipeline does with what a handler throws.
            ctx.fireExceptionCaught(e);
        }
    }

    /** A message as it travels. */
    public static ByteBuf frame(MessageLite message) {
        byte[] bytes = message.toByteArray();
        return Unpooled.buffer(Integer.BYTES + bytes.length)
                .writeInt(bytes.length)
                .writeBytes(bytes);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        own = ctx;
        if (paced && ctx.channel() instanceof Http2StreamChannel) {
            ctx.channel().config().setOption(Http2StreamChannelOption.AUTO_STREAM_FLOW_CONTROL, false);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws MalformedException {
        if (!turn.getAsBoolean()) {
            // A peer that waits for its turn does not dribble.
            forget();
            return;
        }
        if (in.readableBytes() < Integer.BYTES) {
            await(ctx, in);
            return;
        }
        long length = in.getUnsignedInt(in.readerIndex());
        if (length > maxBytes) {
            in.skipBytes(in.readableBytes());
            throw new MalformedException("message: want at most " + maxBytes + " bytes, have " + length);
        }
        if (in.readableBytes() < Integer.BYTES + length) {
            await(ctx, in);
            return;
        }
        forget();
        in.skipBytes(Integer.BYTES);
        byte[] message = ByteBufUtil.getBytes(in.readSlice((int) length));
        if (paced && ctx.channel() instanceof Http2StreamChannel) {
            ctx.writeAndFlush(new DefaultHttp2WindowUpdateFrame(Integer.BYTES + message.length));
        }
        out.add(reader.read(message));
    }

    private void await(ChannelHandlerContext ctx, ByteBuf in) {
        if (patience == null && in.isReadable()) {
            patience = ctx.executor()
                    .schedule(
                            () -> {
                                ctx.fireExceptionCaught(
                                        new DecoderException(new MalformedException("message: want it whole within "
                                                + ProtocolLimits.MESSAGE_TIME.toSeconds() + " s")));
                            },
                            ProtocolLimits.MESSAGE_TIME.toMillis(),
                            TimeUnit.MILLISECONDS);
        }
    }

    private void forget() {
        if (patience != null) {
            patience.cancel(false);
            patience = null;
        }
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext ctx) {
        forget();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        forget();
        super.channelInactive(ctx);
    }
}
