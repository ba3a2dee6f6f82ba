package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.transport.link.MessageFraming;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class MessageFlowControlTest {
    private final EmbeddedChannel stream = new EmbeddedChannel();
    private final MessageFlowControl flowControl = new MessageFlowControl(stream);

    @Test
    void one_frame_of_2730_messages_is_let_in_by_as_many_as_may_be_unanswered() {
        stream.pipeline().addLast(flowControl.messages(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                flowControl.onMessage();
                ctx.fireChannelRead(message);
                flowControl.onChecked();
            }
        });
        ByteBuf frame = Unpooled.buffer();
        while (frame.readableBytes() + 6 <= ProtocolLimits.FRAME_BYTES) {
            frame.writeBytes(MessageFraming.frame(new AgentTicketMessage.QueryQuota().wire()));
        }
        stream.writeInbound(frame);
        stream.runPendingTasks();
        assertThat(stream.inboundMessages()).hasSize(ProtocolLimits.UNANSWERED);
        flowControl.onSkipped();
        stream.runPendingTasks();
        assertThat(stream.inboundMessages()).as("one for one that was answered").hasSize(ProtocolLimits.UNANSWERED + 1);
        for (int i = 0; i < 2730; i++) {
            flowControl.onSkipped();
        }
        stream.runPendingTasks();
        assertThat(stream.inboundMessages()).as("none is lost").hasSize(ProtocolLimits.FRAME_BYTES / 6);
    }
}
