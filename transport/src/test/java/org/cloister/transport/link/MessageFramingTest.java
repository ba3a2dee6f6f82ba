package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.Test;

class MessageFramingTest {
    private final EmbeddedChannel channel =
            new EmbeddedChannel(new MessageFraming(ProtocolLimits.AGENT_MESSAGE_BYTES, AgentMessage::read));

    private static byte[] framed(AgentMessage message) {
        ByteBuf frame = MessageFraming.frame(message.wire());
        return ByteBufUtil.getBytes(frame);
    }

    @Test
    void finds_messages_wherever_the_pieces_end() {
        byte[] one = framed(new AgentMessage.Attach("x"));
        for (int split = 0; split <= one.length; split++) {
            channel.writeInbound(Unpooled.copiedBuffer(one, 0, split));
            channel.writeInbound(Unpooled.copiedBuffer(one, split, one.length - split));
            AgentMessage read = channel.readInbound();
            assertThat(read).isEqualTo(new AgentMessage.Attach("x"));
        }
    }

    @Test
    void a_longer_message_is_refused_before_it_comes() {
        ByteBuf length = Unpooled.buffer().writeInt(ProtocolLimits.AGENT_MESSAGE_BYTES + 1);
        assertThatThrownBy(() -> channel.writeInbound(length))
                .isInstanceOf(DecoderException.class)
                .hasCauseInstanceOf(MalformedException.class)
                .hasMessageContaining("4097");
    }

    @Test
    void a_negative_length_is_a_long_one() {
        assertThatThrownBy(() -> channel.writeInbound(Unpooled.buffer().writeInt(-1)))
                .hasMessageContaining("4294967295");
    }

    @Test
    void one_byte_a_second_is_given_up_after_the_messages_time() {
        channel.freezeTime();
        byte[] message = framed(new AgentMessage.Attach("sixteen characters"));
        for (int second = 0; second < 10; second++) {
            channel.writeInbound(Unpooled.copiedBuffer(message, second, 1));
            channel.advanceTimeBy(1, TimeUnit.SECONDS);
            if (second < 9) {
                channel.runScheduledPendingTasks();
            }
        }
        channel.runScheduledPendingTasks();
        assertThatThrownBy(channel::checkException).hasMessageContaining("whole within 10 s");
    }
}
