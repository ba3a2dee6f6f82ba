package org.cloister.relay.links;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.OptionalInt;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.circuits.RequestedStream;
import org.cloister.relay.tickets.TicketStreamAcceptor;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;

/**
 * Reads the request of each new stream and passes the stream on. Bytes that arrive before the response end the stream.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the stream's end
final class LinkRequestReader extends ChannelInboundHandlerAdapter {
    /** Accepts the streams of links, by the kind of their requests. */
    record Acceptors(CircuitBroker circuits, TicketStreamAcceptor tickets, AttachMessageHandler attach) {}

    private final RelayLink link;
    private final Acceptors acceptors;
    private final RelayMetrics metrics;
    private boolean requested;

    LinkRequestReader(RelayLink link, Acceptors acceptors, RelayMetrics metrics) {
        this.link = link;
        this.acceptors = acceptors;
        this.metrics = metrics;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.channel().closeFuture().addListener(closed -> link.streams.decrementAndGet());
        // HTTP/2's own limit applies only after the peer has acknowledged it, which it may never do.
        if (link.streams.incrementAndGet() > link.limits.count()) {
            ctx.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.REFUSED_STREAM))
                    .addListener(done -> ctx.close());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof Http2HeadersFrame headers && !requested && !headers.isEndStream()) {
            requested = true;
            onRequest(ctx.channel(), headers);
        } else {
            ReferenceCountUtil.release(message);
            metrics.protocolErrors.inc();
            ctx.close();
        }
    }

    private void onRequest(Channel channel, Http2HeadersFrame headers) {
        link.onRequest();
        StreamRequest request;
        try {
            request = StreamRequest.parse(headers.headers());
        } catch (MalformedException e) {
            metrics.protocolErrors.inc();
            StreamResponse.refuse(channel, CircuitClose.byRelay(CloseReason.BAD_REQUEST));
            return;
        }
        link.onFirstRequest();
        OptionalInt version = StreamResponse.version(request);
        if (version.isEmpty()) {
            StreamResponse.refuse(channel, CircuitClose.byRelay(CloseReason.VERSION));
        } else {
            passOn(request, new RequestedStream(channel, version.getAsInt(), this));
        }
    }

    private void passOn(StreamRequest request, RequestedStream stream) {
        if (link.isForRenewal() && !(request instanceof StreamRequest.Attach)) {
            metrics.protocolErrors.inc();
            stream.refuse(CircuitClose.byRelay(CloseReason.NOT_ALLOWED));
            link.close();
            return;
        }
        if (request instanceof StreamRequest.Circuit circuit) {
            acceptors.circuits.requestCircuit(link, stream, circuit);
        } else if (request instanceof StreamRequest.DialBack dialBack) {
            acceptors.circuits.completeCircuit(link, stream, dialBack.token());
        } else if (request instanceof StreamRequest.Tickets tickets) {
            acceptTickets(stream, tickets);
        } else if (request instanceof StreamRequest.Evidence || request instanceof StreamRequest.Assignment) {
            // A VM sends this request to its host, which answers it.
            stream.refuse(CircuitClose.byRelay(CloseReason.NOT_ALLOWED));
        } else if (link.claimAttach()) {
            RelayAttachStream.install(stream, link, acceptors.attach, metrics);
        } else {
            stream.refuse(CircuitClose.byRelay(CloseReason.LIMIT));
        }
    }

    /** Accepts a ticket stream: a host's own, a device's own, or one that a host forwards for a controlling VM. */
    private void acceptTickets(RequestedStream stream, StreamRequest.Tickets request) {
        boolean own = request.from().isEmpty() && (link.isHost() || link.isDevice());
        boolean forwarded = link.isHost()
                && request.from()
                        .filter(name -> name.role().equals(CertificateRole.CONTROLLER.toString()))
                        .isPresent();
        if (!own && !forwarded) {
            stream.refuse(CircuitClose.byRelay(CloseReason.NOT_ALLOWED));
            return;
        }
        if (!acceptors.tickets.accept(stream.channel(), link.identity, link.chain, request.from())) {
            stream.refuse(CircuitClose.byRelay(CloseReason.LIMIT));
            return;
        }
        stream.accept();
        stream.channel().pipeline().fireUserEventTriggered(TicketStreamAcceptor.ResponseSent.NOW);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
