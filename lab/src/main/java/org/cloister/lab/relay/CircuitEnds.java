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
import org.cloister.protocol.Digest;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;

/** Both ends of one circuit: a device that opens it, and a host that serves the controlling VM's name. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written is missed at the other end
final class CircuitEnds extends Ends implements AgentEvents {
    private static final long LIMIT_S = 20;
    private static final ByteBuf BYTES =
            Unpooled.unreleasableBuffer(Unpooled.directBuffer(1 << 16).writeZero(1 << 16));

    private final CountDownLatch served = new CountDownLatch(1);
    private final Promise<Circuit> second;
    private final RelaySite site;
    private final Beliefs beliefs;
    private final Trust trust;
    private final Credential controller;
    private final Circuit opened;

    CircuitEnds(RelaySite site, int port, EventLoopGroup loops)
            throws IOException, InterruptedException, ExecutionException, TimeoutException {
        this.site = site;
        this.beliefs = site.beliefs();
        trust = Trust.inParties(beliefs);
        controller = site.credential(site.controller());
        second = loops.next().newPromise();
        Credential host = site.credential(RelaySite.HOST);
        AgentLink.Terms terms = new AgentLink.Terms(
                List.of(RelaySite.loopback(port)),
                () -> host,
                trust -> trust.only(RelaySite.RELAY),
                beliefs,
                "lab/bench relay");
        new AgentLink(loops, terms, this, new Random(1));
        await(served);
        Link device = Link.dial(
                        loops,
                        RelaySite.loopback(port),
                        site.credential(site.device()),
                        Trust.inRelays(beliefs).only(RelaySite.RELAY))
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
    public void attached(Attachment attachment) {
        attachment.serve(site.controller());
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        served.countDown();
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
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
    public boolean revoked(byte[] signed) {
        return false;
    }

    @Override
    public void lost(String why) {
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
