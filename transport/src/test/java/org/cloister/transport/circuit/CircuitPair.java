package org.cloister.transport.circuit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.Promise;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.identity.PeerVerifier;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;

/** Both ends of real circuits in one process: TLS and the hellos as they are, over streams without a relay between them. */
public final class CircuitPair implements AutoCloseable {
    private static final long WAIT_S = 20;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, LocalIoHandler.newFactory());

    /** One end: what it shows, whom it takes, and what talks there. */
    public record End(TlsCredential own, PeerVerifier verifier, Circuit.Application application) {}

    /** An open circuit. */
    public record Ends(Circuit opener, Circuit target) {}

    /** @throws IllegalStateException if one end does not take the other */
    public Ends open(CircuitTerms terms, End opener, End target) throws InterruptedException {
        return open(terms, opener, target, FaultyPath.sound());
    }

    /**
     * The same by a path on which something may go wrong.
     *
     * @throws IllegalStateException also if the path's fault keeps the circuit from opening
     */
    public Ends open(CircuitTerms terms, End opener, End target, FaultyPath path) throws InterruptedException {
        Promise<Circuit> atOpener = loops.next().newPromise();
        Promise<Circuit> atTarget = loops.next().newPromise();
        LocalAddress address = new LocalAddress(CircuitPair.class);
        Channel listening = new ServerBootstrap()
                .group(loops)
                .channel(LocalServerChannel.class)
                .childHandler(install(terms, CircuitClose.Side.TARGET, target, atTarget, path.toTarget()))
                .bind(address)
                .sync()
                .channel();
        new Bootstrap()
                .group(loops)
                .channel(LocalChannel.class)
                .handler(install(terms, CircuitClose.Side.OPENER, opener, atOpener, path.toOpener()))
                .connect(address)
                .sync();
        try {
            return new Ends(result(atOpener), result(atTarget));
        } finally {
            listening.close().sync();
        }
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static Circuit result(Promise<Circuit> promise) throws InterruptedException {
        if (!promise.await(WAIT_S, TimeUnit.SECONDS) || !promise.isSuccess()) {
            throw new IllegalStateException("no circuit", promise.cause());
        }
        return promise.getNow();
    }

    private static ChannelInitializer<Channel> install(
            CircuitTerms terms, CircuitClose.Side side, End end, Promise<Circuit> promise, ChannelHandler path) {
        CircuitHandshakePeer peer = new CircuitHandshakePeer(end.verifier);
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(path, new StreamBytes());
                CircuitEndpoint.install(
                        channel.pipeline(),
                        new CircuitEndpoint.Half(
                                side,
                                side == CircuitClose.Side.OPENER
                                        ? TlsProfile.CIRCUIT.client(end.own, peer)
                                        : TlsProfile.CIRCUIT.server(end.own, peer),
                                peer),
                        terms,
                        ProtocolVersions.OURS,
                        promise,
                        end.application);
            }
        };
    }
}
