package org.cloister.relay.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.ticket.PartyMessage;
import org.junit.jupiter.api.Test;

class GateTest {
    private final EmbeddedChannel stream = new EmbeddedChannel();
    private final Gate gate = new Gate(stream);

    @Test
    void one_frame_of_2730_messages_is_let_in_by_as_many_as_may_be_unanswered() {
        stream.pipeline().addLast(gate.messages(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                gate.entered();
                ctx.fireChannelRead(message);
                gate.checked();
            }
        });
        ByteBuf frame = Unpooled.buffer();
        while (frame.readableBytes() + 6 <= LinkLimits.FRAME_BYTES) {
            frame.writeBytes(Framing.frame(new PartyMessage.AskQuota().wire()));
        }
        stream.writeInbound(frame);
        stream.runPendingTasks();
        assertThat(stream.inboundMessages()).hasSize(LinkLimits.UNANSWERED);
        gate.skipped();
        stream.runPendingTasks();
        assertThat(stream.inboundMessages()).as("one for one that was answered").hasSize(LinkLimits.UNANSWERED + 1);
        for (int i = 0; i < 2730; i++) {
            gate.skipped();
        }
        stream.runPendingTasks();
        assertThat(stream.inboundMessages()).as("none is lost").hasSize(LinkLimits.FRAME_BYTES / 6);
    }
}
