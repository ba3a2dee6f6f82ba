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
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.tickets.TicketStreamAcceptor;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;

/**
 * Reads the request of each new stream and passes the stream on. Bytes that arrive before the response end the stream.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the stream's end
public final class LinkRequestReader extends ChannelInboundHandlerAdapter {
    private final RelayLink link;
    private final RelayServer relay;
    private boolean asked;

    LinkRequestReader(RelayLink link, RelayServer relay) {
        this.link = link;
        this.relay = relay;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.channel().closeFuture().addListener(closed -> link.streams.decrementAndGet());
        // HTTP/2's own limit applies only after the peer has acknowledged it, which it may never do.
        if (link.streams.incrementAndGet() > ProtocolLimits.STREAMS) {
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
        link.onRequest();
        StreamRequest request;
        try {
            request = StreamRequest.parse(headers.headers());
        } catch (MalformedException e) {
            relay.metrics().protocolErrors.inc();
            StreamResponse.refuse(stream, CircuitClose.byRelay(CloseReason.BAD_REQUEST));
            return;
        }
        link.onFirstRequest();
        OptionalInt version = StreamResponse.version(request);
        if (version.isEmpty()) {
            StreamResponse.refuse(stream, CircuitClose.byRelay(CloseReason.VERSION));
        } else if (request instanceof StreamRequest.Circuit circuit) {
            relay.circuitBroker().requestCircuit(link, stream, version.getAsInt(), circuit);
        } else if (request instanceof StreamRequest.DialBack dialBack) {
            relay.circuitBroker().completeCircuit(link, stream, version.getAsInt(), dialBack.token());
        } else if (request instanceof StreamRequest.Tickets tickets) {
            tickets(stream, version.getAsInt(), tickets);
        } else if (request instanceof StreamRequest.Evidence || request instanceof StreamRequest.Assignment) {
            // A VM sends this request to its host, which answers it.
            StreamResponse.refuse(stream, CircuitClose.byRelay(CloseReason.NOT_ALLOWED));
        } else if (link.claimAttach()) {
            RelayAttachStream.install(stream, version.getAsInt(), link, relay);
        } else {
            StreamResponse.refuse(stream, CircuitClose.byRelay(CloseReason.LIMIT));
        }
    }

    /** Accepts a ticket stream: a host's own, a device's own, or one that a host forwards for a controlling VM. */
    private void tickets(Channel stream, int version, StreamRequest.Tickets request) {
        boolean own = request.from().isEmpty() && (link.isHost() || link.isDevice());
        boolean brought = link.isHost()
                && request.from()
                        .filter(name -> name.role().equals(CertificateRole.CONTROLLER.toString()))
                        .isPresent();
        if (!own && !brought) {
            StreamResponse.refuse(stream, CircuitClose.byRelay(CloseReason.NOT_ALLOWED));
            return;
        }
        if (!relay.ticketStreams().accept(stream, link.identity, link.chain, request.from())) {
            StreamResponse.refuse(stream, CircuitClose.byRelay(CloseReason.LIMIT));
            return;
        }
        CircuitBroker.accept(stream, version);
        stream.pipeline().fireUserEventTriggered(TicketStreamAcceptor.ResponseSent.NOW);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
