package org.cloister.relay.links;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Listening socket to which agents connect. */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
public final class LinkListener implements AutoCloseable {
    private static final int BACKLOG = 4096;

    private final Channel socket;

    /** Opens the socket; it listens when the constructor returns. */
    public LinkListener(InetSocketAddress address, LinkAcceptor acceptor, EventLoopGroup loops) throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        acceptor.accept(channel);
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + address + ": " + bound.cause().getMessage()
                            + "; ss -ltnp shows which process uses the port",
                    bound.cause());
        }
        this.socket = bound.channel();
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) socket.localAddress();
    }

    public boolean isListening() {
        return socket.isActive();
    }

    /** Closes the socket; accepted links stay open. */
    void stopListening() {
        socket.close();
    }

    @Override
    public void close() {
        socket.close().syncUninterruptibly();
    }
}
