package org.cloister.ovs.ovsdb;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import java.util.Arrays;
import org.cloister.ovs.io.OvsException.Malformed;

/**
 * Any bytes from a server, in any pieces, give messages or a typed error: nothing else is thrown, nothing hangs, and
 * the limits of the pieces make no difference.
 */
class JsonRpcFuzz {
    @FuzzTest(maxDuration = "60s")
    void ends_in_messages_or_a_typed_error(byte[] bytes) {
        String whole = read(bytes, bytes.length);
        String halves = read(bytes, bytes.length / 2);
        if (!whole.equals(halves)) {
            throw new IllegalStateException("in one piece " + whole + ", in two " + halves);
        }
    }

    /** All messages, and the error if it ends in one. */
    private static String read(byte[] bytes, int split) {
        StringBuilder read = new StringBuilder();
        EmbeddedChannel channel = new EmbeddedChannel(JsonRpc.frames());
        try {
            for (byte[] piece :
                    new byte[][] {Arrays.copyOf(bytes, split), Arrays.copyOfRange(bytes, split, bytes.length)}) {
                try {
                    channel.writeInbound(Unpooled.copiedBuffer(piece));
                } catch (DecoderException e) {
                    return drain(channel, read).append("cut off").toString();
                }
            }
            return drain(channel, read).toString();
        } catch (Malformed e) {
            requireText(e);
            return read.append(e.getMessage()).toString();
        } finally {
            channel.finishAndReleaseAll();
        }
    }

    private static StringBuilder drain(EmbeddedChannel channel, StringBuilder read) throws Malformed {
        for (ByteBuf frame = channel.readInbound(); frame != null; frame = channel.readInbound()) {
            byte[] message = ByteBufUtil.getBytes(frame);
            frame.release();
            read.append(JsonRpc.read(message)).append('\n');
        }
        return read;
    }

    static void requireText(Malformed e) {
        if (e.getMessage() == null || e.getMessage().length() > 1000) {
            throw new IllegalStateException("not a message for an operator", e);
        }
    }
}
