package org.cloister.protocol.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.StreamBytes;

/** The host's end of a question for evidence: one question, one answer, and the stream is over. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
final class VmEvidence extends ChannelInboundHandlerAdapter {
    private final VmSession session;
    private boolean asked;

    private VmEvidence(VmSession session) {
        this.session = session;
    }

    static void install(Channel stream, int version, VmSession session) {
        stream.pipeline()
                .addLast(
                        new StreamBytes(),
                        new Framing(LinkLimits.FROM_AGENT_BYTES, EvidenceMessage::readAsked),
                        new VmEvidence(session));
        VmStream.accept(stream, version);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        if (asked || !(message instanceof EvidenceMessage.Asked question)) {
            throw new MalformedException("evidence stream: want one question, have more");
        }
        asked = true;
        session.port.events().asked(question.claim(), answer -> ctx.executor().execute(() -> say(ctx, answer)));
    }

    private static void say(ChannelHandlerContext ctx, EvidenceMessage.Answer answer) {
        if (ctx.channel().isActive()) {
            ctx.write(Framing.frame(answer.wire()));
            ctx.pipeline().get(StreamBytes.class).endOutput().addListener(done -> ctx.close());
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE && !asked) {
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        session.cut("breaks the protocol on an evidence stream");
    }
}
