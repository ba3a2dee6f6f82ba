package org.cloister.lab.host;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Program: {@code CERTIFICATE KEY PORT [check]}. The smallest possible daemon of the same kind: Netty and the JDK's TLS
 * 1.3, which echoes what it receives. With {@code check} it ends once it listens.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write shows at the other end
public final class TlsEcho {
    private TlsEcho() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        SslContext tls = SslContextBuilder.forServer(new File(args[0]), new File(args[1]))
                .sslProvider(SslProvider.JDK)
                .protocols("TLSv1.3")
                .build();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(tls.newHandler(channel.alloc()), new Echo());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[2])))
                .sync();
        if (args.length > 3) {
            loops.shutdownGracefully().sync();
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }
}
