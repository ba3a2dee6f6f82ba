package org.cloister.relay;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.timeout.ReadTimeoutHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.protocol.link.LinkLimits;

/** Where operators and Prometheus ask, over HTTP/1.1: a Unix socket, and loopback if it is wanted. */
final class AdminListener implements AutoCloseable {
    private static final int WAIT_S = 10;

    private final Channel channel;

    private AdminListener(Channel channel) {
        this.channel = channel;
    }

    /** For the relay's user and group. A socket where nobody answers is of a process that is no more, and is replaced. */
    static AdminListener on(Path socket, Relay relay, EventLoopGroup loops) throws IOException {
        if (answers(socket)) {
            throw new IOException(socket + ": another process answers there; end it, or set socket to another file");
        }
        Files.deleteIfExists(socket);
        AdminListener listener =
                bind(NioServerDomainSocketChannel.class, UnixDomainSocketAddress.of(socket), relay, true, loops);
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw----"));
        return listener;
    }

    /** For whoever is on this machine: what is served here changes nothing. */
    static AdminListener on(InetSocketAddress loopback, Relay relay, EventLoopGroup loops) throws IOException {
        return bind(NioServerSocketChannel.class, loopback, relay, false, loops);
    }

    private static boolean answers(Path socket) throws IOException {
        try {
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            return true;
        } catch (SocketException e) {
            // No such file, or nobody behind it.
            return false;
        }
    }

    SocketAddress address() {
        return channel.localAddress();
    }

    private static AdminListener bind(
            Class<? extends ServerChannel> kind,
            SocketAddress address,
            Relay relay,
            boolean operator,
            EventLoopGroup loops)
            throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(kind)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(
                                        new ReadTimeoutHandler(WAIT_S),
                                        new HttpServerCodec(),
                                        new HttpObjectAggregator(LinkLimits.FROM_RELAY_BYTES),
                                        new AdminRequests(relay, operator));
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException("listen " + address + ": " + bound.cause().getMessage(), bound.cause());
        }
        return new AdminListener(bound.channel());
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
    }
}
