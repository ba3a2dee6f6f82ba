package org.cloister.lab.relay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;

/** Both ends of one circuit: a device that opens it, and a host that serves the controlling VM's name. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write shows at the other end
final class CircuitEndpoints extends EndpointPair implements AgentLinkListener {
    private static final long LIMIT_S = 20;
    private static final ByteBuf BYTES =
            Unpooled.unreleasableBuffer(Unpooled.directBuffer(1 << 16).writeZero(1 << 16));

    private final CountDownLatch served = new CountDownLatch(1);
    private final Promise<Circuit> second;
    private final RelaySiteFiles site;
    private final TrustStore trustStore;
    private final CertifiedPeerVerifier trust;
    private final TlsCredential controller;
    private final Circuit opened;

    CircuitEndpoints(RelaySiteFiles site, int port, EventLoopGroup loops)
            throws IOException, InterruptedException, ExecutionException, TimeoutException {
        this.site = site;
        this.trustStore = site.beliefs();
        trust = CertifiedPeerVerifier.forCircuitEnds(trustStore);
        controller = site.credential(site.controller());
        second = loops.next().newPromise();
        TlsCredential host = site.credential(RelaySiteFiles.HOST);
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(RelaySiteFiles.loopback(port)),
                () -> host,
                trust -> trust.only(RelaySiteFiles.RELAY),
                trustStore,
                "lab/bench relay");
        new AgentLink(loops, terms, this, new Random(1));
        await(served);
        ClientLink device = ClientLink.dial(
                        loops,
                        RelaySiteFiles.loopback(port),
                        site.credential(site.device()),
                        CertifiedPeerVerifier.forRelays(trustStore).only(RelaySiteFiles.RELAY))
                .get(LIMIT_S, TimeUnit.SECONDS);
        opened = Circuit.open(
                        device,
                        new CircuitTerms(site.member(), site.controller(), Digest.sha384("a policy")),
                        site.credential(site.member()),
                        trust,
                        (pipeline, circuit) -> {
                            pipeline.addLast(new First());
                        })
                .get(LIMIT_S, TimeUnit.SECONDS);
        second.get(LIMIT_S, TimeUnit.SECONDS);
    }

    @Override
    Channel first() {
        return opened.channel();
    }

    @Override
    void send(int bytes) {
        opened.channel().write(BYTES.slice(0, bytes));
    }

    @Override
    void answer(int bytes) {
        second.getNow().channel().writeAndFlush(BYTES.slice(0, bytes));
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachment.serve(site.controller());
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        served.countDown();
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        Circuit.dialBack(attachment.link(), dial, controller, trust, (pipeline, circuit) -> {
                    pipeline.addLast(new Second());
                })
                .addListener(done -> {
                    if (done.isSuccess()) {
                        second.setSuccess((Circuit) done.getNow());
                    } else {
                        second.setFailure(done.cause());
                    }
                });
    }

    @Override
    public void onLost(String why) {
        second.tryFailure(new IOException(why));
    }

    private final class First extends ChannelInboundHandlerAdapter {
        private int left = 512;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf part = (ByteBuf) message;
            left -= part.readableBytes();
            part.release();
            if (left == 0) {
                left = 512;
                onFirst();
            }
        }
    }

    private final class Second extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf part = (ByteBuf) message;
            int bytes = part.readableBytes();
            part.release();
            onSecond(bytes);
        }
    }
}
