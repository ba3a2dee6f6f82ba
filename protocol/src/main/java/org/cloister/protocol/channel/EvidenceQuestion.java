package org.cloister.protocol.channel;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.NoEvidence;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.StreamBytes;
import org.cloister.protocol.link.Versions;

/** A VM asks its host to vouch for it; docs/protocol.md, section 11. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
public final class EvidenceQuestion extends ChannelInboundHandlerAdapter {
    private final Promise<Envelope> answer;

    private EvidenceQuestion(Promise<Envelope> answer) {
        this.answer = answer;
    }

    /**
     * The future fails with {@link NoEvidence} if the host refuses, and with another exception if it does not answer.
     *
     * @param channel to the VM's host
     */
    public static Future<Envelope> ask(Link channel, Claim claim) {
        Promise<Envelope> answer = channel.loop().newPromise();
        channel.open(new Request.Evidence(Versions.OURS), stream -> {
                    stream.pipeline()
                            .addLast(
                                    new Framing(LinkLimits.EVIDENCE_BYTES, EvidenceMessage::readAnswer),
                                    new EvidenceQuestion(answer));
                    stream.write(Framing.frame(new EvidenceMessage.Asked(claim).wire()));
                    stream.pipeline().get(StreamBytes.class).endOutput();
                })
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (!opened.isSuccess()) {
                        answer.tryFailure(opened.cause());
                    }
                });
        return answer;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof EvidenceMessage.Vouched vouched) {
            answer.trySuccess(vouched.statement());
        } else if (message instanceof EvidenceMessage.Refused refused) {
            answer.tryFailure(new NoEvidence(refused.why()));
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            ctx.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        answer.tryFailure(new IOException("evidence: want an answer of the host, have the end of the stream"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        answer.tryFailure(new IOException("evidence: " + cause.getMessage(), cause));
        ctx.close();
    }
}
