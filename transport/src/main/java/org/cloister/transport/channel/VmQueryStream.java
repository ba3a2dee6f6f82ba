package org.cloister.transport.channel;

import com.google.protobuf.MessageLite;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;

/** Host's end of a request that it answers itself: one request and one answer, then the stream ends. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a stream is reported as its end
final class VmQueryStream<Q> extends ChannelInboundHandlerAdapter {
    private final VmChannelSession session;
    private final String subject;
    private final Class<Q> kind;
    private final Query<Q> events;
    private boolean isAnswered;

    /** Request handler, which calls back once, on any thread. */
    private interface Query<Q> {
        void asked(Q question, Consumer<MessageLite> answer);
    }

    private VmQueryStream(VmChannelSession session, String subject, Class<Q> kind, Query<Q> events) {
        this.session = session;
        this.subject = subject;
        this.kind = kind;
        this.events = events;
    }

    static void ofEvidence(Channel stream, int version, VmChannelSession session) {
        VmQueryStream<EvidenceMessage.Request> question = new VmQueryStream<>(
                session,
                "evidence",
                EvidenceMessage.Request.class,
                (request, answer) -> session.port
                        .events()
                        .onEvidenceRequest(request.claim(), response -> answer.accept(response.wire())));
        question.install(stream, version, EvidenceMessage::readRequest);
    }

    static void ofAssignment(Channel stream, int version, VmChannelSession session) {
        VmQueryStream<AssignmentMessage.Request> question = new VmQueryStream<>(
                session,
                "assignment",
                AssignmentMessage.Request.class,
                (request, answer) ->
                        session.port.events().onAssignmentRequest(response -> answer.accept(response.wire())));
        question.install(stream, version, AssignmentMessage::readRequest);
    }

    private void install(Channel stream, int version, MessageFraming.Reader reader) {
        stream.pipeline()
                .addLast(new StreamBytes(), new MessageFraming(ProtocolLimits.AGENT_MESSAGE_BYTES, reader), this);
        ChannelRequestReader.accept(stream, version);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        if (isAnswered || !kind.isInstance(message)) {
            throw new MalformedException(subject + " stream: want one question, have more");
        }
        isAnswered = true;
        events.asked(kind.cast(message), answer -> ctx.executor().execute(() -> send(ctx, answer)));
    }

    private static void send(ChannelHandlerContext ctx, MessageLite answer) {
        if (ctx.channel().isActive()) {
            ctx.write(MessageFraming.frame(answer));
            ctx.pipeline().get(StreamBytes.class).shutdownOutput().addListener(done -> ctx.close());
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE && !isAnswered) {
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        session.cut("breaks the protocol on a stream of " + subject);
    }
}
