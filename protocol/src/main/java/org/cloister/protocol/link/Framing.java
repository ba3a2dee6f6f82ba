package org.cloister.protocol.link;

import com.google.protobuf.MessageLite;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.MalformedException;
import org.jspecify.annotations.Nullable;

/**
 * Messages on a stream: a 32-bit big-endian length and that many bytes; docs/protocol.md, section 2. A longer length is
 * refused before a byte of the message is kept, and a message that dribbles is given {@link LinkLimits#MESSAGE_TIME}.
 * Fails with a {@link MalformedException} in {@code exceptionCaught}.
 */
public final class Framing extends ByteToMessageDecoder {
    /** Makes one message of the bytes between two lengths. */
    @FunctionalInterface
    public interface Reader {
        Object read(byte[] message) throws MalformedException;
    }

    private final int maxBytes;
    private final Reader reader;
    private @Nullable ScheduledFuture<?> patience;

    public Framing(int maxBytes, Reader reader) {
        this.maxBytes = maxBytes;
        this.reader = reader;
    }

    /** A message as it travels. */
    public static ByteBuf frame(MessageLite message) {
        byte[] bytes = message.toByteArray();
        return Unpooled.buffer(Integer.BYTES + bytes.length)
                .writeInt(bytes.length)
                .writeBytes(bytes);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws MalformedException {
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
        out.add(reader.read(message));
    }

    private void await(ChannelHandlerContext ctx, ByteBuf in) {
        if (patience == null && in.isReadable()) {
            patience = ctx.executor()
                    .schedule(
                            () -> {
                                ctx.fireExceptionCaught(
                                        new DecoderException(new MalformedException("message: want it whole within "
                                                + LinkLimits.MESSAGE_TIME.toSeconds() + " s")));
                            },
                            LinkLimits.MESSAGE_TIME.toMillis(),
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
