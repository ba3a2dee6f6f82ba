package org.cloister.protocol.circuit;

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
import org.cloister.protocol.link.Acceptance;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.StreamBytes;
import org.cloister.protocol.link.TlsProfile;
import org.cloister.protocol.link.Versions;

/** Both ends of real circuits in one process: TLS and the hellos as they are, over streams without a relay between them. */
public final class CircuitPair implements AutoCloseable {
    private static final long WAIT_S = 20;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, LocalIoHandler.newFactory());

    /** One end: what it shows, whom it takes, and what talks there. */
    public record End(Credential own, Acceptance taken, Circuit.Application application) {}

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
                .childHandler(install(terms, Close.Side.TARGET, target, atTarget, path.toTarget()))
                .bind(address)
                .sync()
                .channel();
        new Bootstrap()
                .group(loops)
                .channel(LocalChannel.class)
                .handler(install(terms, Close.Side.OPENER, opener, atOpener, path.toOpener()))
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
            CircuitTerms terms, Close.Side side, End end, Promise<Circuit> promise, ChannelHandler path) {
        OtherEnd peer = new OtherEnd(end.taken);
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(path, new StreamBytes());
                CircuitEnd.install(
                        channel.pipeline(),
                        new CircuitEnd.Half(
                                side,
                                side == Close.Side.OPENER
                                        ? TlsProfile.CIRCUIT.client(end.own, peer)
                                        : TlsProfile.CIRCUIT.server(end.own, peer),
                                peer),
                        terms,
                        Versions.OURS,
                        promise,
                        end.application);
            }
        };
    }
}
