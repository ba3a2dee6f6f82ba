package org.cloister.relay;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.OptionalInt;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Answer;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Request;
import org.cloister.relay.ticket.TicketDoor;

/** The first on each stream: reads the request and hands it on. Bytes that come before the response end the stream. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
final class StreamEntry extends ChannelInboundHandlerAdapter {
    private final RelayLink link;
    private final Relay relay;
    private boolean asked;

    StreamEntry(RelayLink link, Relay relay) {
        this.link = link;
        this.relay = relay;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.channel().closeFuture().addListener(closed -> link.streams.decrementAndGet());
        // HTTP/2's own limit holds only once the other side has acknowledged it, which it may never do.
        if (link.streams.incrementAndGet() > LinkLimits.STREAMS) {
            ctx.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.REFUSED_STREAM))
                    .addListener(done -> ctx.close());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof Http2HeadersFrame headers && !asked && !headers.isEndStream()) {
            asked = true;
            answer(ctx.channel(), headers);
        } else {
            ReferenceCountUtil.release(message);
            relay.metrics().protocolErrors.inc();
            ctx.close();
        }
    }

    private void answer(Channel stream, Http2HeadersFrame headers) {
        link.asked();
        Request request;
        try {
            request = Request.parse(headers.headers());
        } catch (MalformedException e) {
            relay.metrics().protocolErrors.inc();
            Answer.refuse(stream, Close.byRelay(CloseReason.BAD_REQUEST));
            return;
        }
        link.requested();
        OptionalInt version = Answer.version(request);
        if (version.isEmpty()) {
            Answer.refuse(stream, Close.byRelay(CloseReason.VERSION));
        } else if (request instanceof Request.Circuit circuit) {
            relay.exchange().ask(link, stream, version.getAsInt(), circuit);
        } else if (request instanceof Request.DialBack dialBack) {
            relay.exchange().dialBack(link, stream, version.getAsInt(), dialBack.token());
        } else if (request instanceof Request.Tickets tickets) {
            tickets(stream, version.getAsInt(), tickets);
        } else if (request instanceof Request.Evidence || request instanceof Request.Assignment) {
            // A VM asks its host, who answers it.
            Answer.refuse(stream, Close.byRelay(CloseReason.NOT_ALLOWED));
        } else if (link.claimAttach()) {
            AttachStream.install(stream, version.getAsInt(), link, relay);
        } else {
            Answer.refuse(stream, Close.byRelay(CloseReason.LIMIT));
        }
    }

    /** A host's own, a device's own, or one that a host forwards for a controlling VM. */
    private void tickets(Channel stream, int version, Request.Tickets request) {
        boolean own = request.from().isEmpty() && (link.isHost() || link.isDevice());
        boolean brought = link.isHost()
                && request.from()
                        .filter(name -> name.role().equals(Role.CONTROLLER.toString()))
                        .isPresent();
        if (!own && !brought) {
            Answer.refuse(stream, Close.byRelay(CloseReason.NOT_ALLOWED));
            return;
        }
        if (!relay.tickets().enter(stream, link.identity, link.chain, request.from())) {
            Answer.refuse(stream, Close.byRelay(CloseReason.LIMIT));
            return;
        }
        Exchange.accept(stream, version);
        stream.pipeline().fireUserEventTriggered(TicketDoor.Answered.NOW);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
