package org.cloister.ovs.openflow;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import org.cloister.ovs.io.OvsException.Malformed;
import org.jspecify.annotations.Nullable;

/**
 * Any bytes from a switch give messages or a typed error: nothing else is thrown, nothing hangs, and the result is not
 * larger than the input. The corpus was sent by Open vSwitch 3.1.0, see the file names.
 */
class OpenFlowFuzz {
    private static final int LEAST_ENTRY = 8;

    @FuzzTest(maxDuration = "60s")
    void ends_in_messages_or_a_typed_error(byte[] bytes) {
        try {
            EmbeddedChannel channel = new EmbeddedChannel(OpenFlowCodec.frames());
            try {
                channel.writeInbound(Unpooled.copiedBuffer(bytes));
                for (ByteBuf frame = channel.readInbound(); frame != null; frame = channel.readInbound()) {
                    int length = frame.readableBytes();
                    require(OpenFlowMessage.read(frame).message(), length);
                    frame.release();
                }
            } finally {
                channel.finishAndReleaseAll();
            }
        } catch (DecoderException e) {
            // A length below a header's: ReconnectingSocket makes it typed.
            require(e.getMessage(), 200);
        } catch (Malformed e) {
            require(e.getMessage(), 1000);
        }
    }

    private static void require(OpenFlowMessage message, int length) {
        if (message instanceof OpenFlowMessage.Flows flows) {
            requireFewer(flows.flows().size(), length);
            // Its text goes into logs and differences.
            flows.flows().forEach(each -> require(each.flow().toString(), 10 * length + 1000));
            flows.flows().forEach(each -> requireSame(each.flow()));
        } else if (message instanceof OpenFlowMessage.Ports ports) {
            requireFewer(ports.ports().size(), length);
        } else if (message instanceof OpenFlowMessage.Meters meters) {
            requireFewer(meters.meters().size(), length);
        }
    }

    /** What we would send to make this flow is read as this flow again. */
    private static void requireSame(FlowEntry flow) {
        try {
            ByteBuf match = Unpooled.buffer();
            flow.key().match().write(match);
            if (!FlowMatch.read(match).equals(flow.key().match()) || match.isReadable()) {
                throw new IllegalStateException("another match: " + flow);
            }
        } catch (Malformed e) {
            throw new IllegalStateException("a match of ours is refused", e);
        }
    }

    private static void requireFewer(int entries, int bytes) {
        if (entries > bytes / LEAST_ENTRY) {
            throw new IllegalStateException(entries + " entries of " + bytes + " bytes");
        }
    }

    private static void require(@Nullable String text, int most) {
        if (text == null || text.length() > most) {
            throw new IllegalStateException("not a text for an operator: " + text);
        }
    }
}
