package org.cloister.protocol.channel;

import com.google.protobuf.MessageLite;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.function.Consumer;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.StreamBytes;

/** The host's end of a question that it answers itself: one question, one answer, and the stream is over. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
final class VmQuestion<Q> extends ChannelInboundHandlerAdapter {
    private final VmSession session;
    private final String subject;
    private final Class<Q> kind;
    private final Asked<Q> events;
    private boolean asked;

    /** Calls back once, on any thread. */
    private interface Asked<Q> {
        void asked(Q question, Consumer<MessageLite> answer);
    }

    private VmQuestion(VmSession session, String subject, Class<Q> kind, Asked<Q> events) {
        this.session = session;
        this.subject = subject;
        this.kind = kind;
        this.events = events;
    }

    static void ofEvidence(Channel stream, int version, VmSession session) {
        VmQuestion<EvidenceMessage.Asked> question = new VmQuestion<>(
                session,
                "evidence",
                EvidenceMessage.Asked.class,
                (asked, answer) -> session.port.events().asked(asked.claim(), said -> answer.accept(said.wire())));
        question.install(stream, version, EvidenceMessage::readAsked);
    }

    static void ofAssignment(Channel stream, int version, VmSession session) {
        VmQuestion<AssignmentMessage.Asked> question = new VmQuestion<>(
                session,
                "assignment",
                AssignmentMessage.Asked.class,
                (asked, answer) -> session.port.events().askedWhat(said -> answer.accept(said.wire())));
        question.install(stream, version, AssignmentMessage::readAsked);
    }

    private void install(Channel stream, int version, Framing.Reader reader) {
        stream.pipeline().addLast(new StreamBytes(), new Framing(LinkLimits.FROM_AGENT_BYTES, reader), this);
        VmStream.accept(stream, version);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        if (asked || !kind.isInstance(message)) {
            throw new MalformedException(subject + " stream: want one question, have more");
        }
        asked = true;
        events.asked(kind.cast(message), answer -> ctx.executor().execute(() -> say(ctx, answer)));
    }

    private static void say(ChannelHandlerContext ctx, MessageLite answer) {
        if (ctx.channel().isActive()) {
            ctx.write(Framing.frame(answer));
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
        session.cut("breaks the protocol on a stream of " + subject);
    }
}
