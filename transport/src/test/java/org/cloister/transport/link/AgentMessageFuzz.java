package org.cloister.transport.link;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;

/** Any bytes on an attach stream give messages that read back as themselves, or a typed error. */
class AgentMessageFuzz {
    @FuzzTest(maxDuration = "60s")
    void agents_messages_end_in_a_value_or_a_typed_error(byte[] bytes) throws Exception {
        try {
            AgentMessage message = AgentMessage.read(bytes);
            if (!AgentMessage.read(message.wire().toByteArray()).equals(message)) {
                throw new IllegalStateException("reads back otherwise: " + message);
            }
        } catch (MalformedException e) {
            requireText(e);
        }
        frames(bytes);
    }

    private static void frames(byte[] bytes) {
        EmbeddedChannel channel =
                new EmbeddedChannel(new MessageFraming(ProtocolLimits.AGENT_MESSAGE_BYTES, AgentMessage::read));
        typed(() -> channel.writeInbound(Unpooled.copiedBuffer(bytes)));
        typed(channel::finishAndReleaseAll);
    }

    private static void typed(Runnable step) {
        try {
            step.run();
        } catch (DecoderException e) {
            if (!(e.getCause() instanceof MalformedException)) {
                throw e;
            }
        }
    }

    static void requireText(MalformedException e) {
        if (e.getMessage() == null || e.getMessage().length() > 1000) {
            throw new IllegalStateException("not a message for an operator", e);
        }
    }
}
