package org.cloister.transport.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.OptionalInt;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;

/**
 * First handler on each stream of a VM: reads the request and passes it on. Bytes that arrive before the response end
 * the stream.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a stream is reported as its end
final class ChannelRequestReader extends ChannelInboundHandlerAdapter {
    private final VmChannelSession session;
    private final VmForwarder forwarding;
    private boolean isComplete;

    ChannelRequestReader(VmChannelSession session, VmForwarder forwarding) {
        this.session = session;
        this.forwarding = forwarding;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (!session.acquireStream(ctx.channel())) {
            session.port.events().onRequestRefused(CloseReason.LIMIT);
            ctx.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.REFUSED_STREAM))
                    .addListener(done -> ctx.close());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof Http2HeadersFrame headers && !isComplete && !headers.isEndStream()) {
            isComplete = true;
            if (session.countMessage()) {
                answer(ctx.channel(), headers);
            }
        } else {
            ReferenceCountUtil.release(message);
            ctx.close();
        }
    }

    private void answer(Channel stream, Http2HeadersFrame headers) {
        StreamRequest request;
        try {
            request = StreamRequest.parse(headers.headers());
        } catch (MalformedException e) {
            session.refuse(stream, CloseReason.BAD_REQUEST);
            return;
        }
        session.requested();
        OptionalInt version = StreamResponse.version(request);
        if (version.isEmpty()) {
            session.refuse(stream, CloseReason.VERSION);
        } else if (request instanceof StreamRequest.Circuit circuit) {
            forwarding.open(session, stream, version.getAsInt(), circuit);
        } else if (request instanceof StreamRequest.DialBack dialBack) {
            forwarding.dialBack(session, stream, version.getAsInt(), dialBack);
        } else if (request instanceof StreamRequest.Tickets tickets) {
            forwarding.tickets(session, stream, version.getAsInt(), tickets);
        } else if (request instanceof StreamRequest.Evidence) {
            VmQueryStream.ofEvidence(stream, version.getAsInt(), session);
        } else if (request instanceof StreamRequest.Assignment) {
            VmQueryStream.ofAssignment(stream, version.getAsInt(), session);
        } else if (session.claimAttach()) {
            VmAttachStream.install(stream, version.getAsInt(), session, forwarding);
        } else {
            session.refuse(stream, CloseReason.LIMIT);
        }
    }

    /** Sends a stream its response; on its event loop, after the stream's reader is installed. */
    static void accept(Channel stream, int version) {
        stream.pipeline().remove(ChannelRequestReader.class);
        StreamResponse.accept(stream, version);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
