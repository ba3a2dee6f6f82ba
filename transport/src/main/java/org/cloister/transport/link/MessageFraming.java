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
 * Frames messages on a stream: a 32-bit big-endian length and that many bytes; docs/protocol.md, section 2. A length
 * above the limit is rejected before a byte of the message is stored, and a message that arrives slowly times out after
 * {@link ProtocolLimits#MESSAGE_TIME}. Fails with a {@link MalformedException} in {@code exceptionCaught}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed window update is reported as the stream's end
public final class MessageFraming extends ByteToMessageDecoder {
    /** Parses one message from its bytes. */
    @FunctionalInterface
    public interface Reader {
        Object read(byte[] message) throws MalformedException;
    }

    private final int maxBytes;
    private final Reader reader;
    private final BooleanSupplier mayRead;
    private final boolean paced;
    private @Nullable ScheduledFuture<?> timer;
    private @Nullable ChannelHandlerContext own;

    public MessageFraming(int maxBytes, Reader reader) {
        this(maxBytes, reader, () -> true, false);
    }

    /**
     * Reads a message only when the caller permits it. Until then received data stays as bytes, in one buffer and not
     * in its frames, and an HTTP/2 stream's window opens by the bytes that were read as messages, not by those that
     * were received.
     *
     * @param mayRead called before each message, on the channel's event loop; after false, {@link #resume} calls it
     *     again
     */
    public MessageFraming(int maxBytes, Reader reader, BooleanSupplier mayRead) {
        this(maxBytes, reader, mayRead, true);
    }

    private MessageFraming(int maxBytes, Reader reader, BooleanSupplier mayRead, boolean paced) {
        this.maxBytes = maxBytes;
        this.reader = reader;
        this.mayRead = mayRead;
        this.paced = paced;
    }

    /**
     * Reads the received messages as far as the caller permits. Call it on the channel's event loop, and not while a
     * message is being passed on.
     */
    public void resume() {
        ChannelHandlerContext ctx = own;
        if (ctx == null || ctx.isRemoved()) {
            return;
        }
        try {
            channelRead(ctx, Unpooled.EMPTY_BUFFER);
        } catch (Exception e) {
            // Same handling as by a pipeline.
            ctx.fireExceptionCaught(e);
        }
    }

    /** Returns a message with its length. */
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
        if (!mayRead.getAsBoolean()) {
            // The time limit does not apply while the peer waits for its turn.
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
        if (timer == null && in.isReadable()) {
            timer = ctx.executor()
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
        if (timer != null) {
            timer.cancel(false);
            timer = null;
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
