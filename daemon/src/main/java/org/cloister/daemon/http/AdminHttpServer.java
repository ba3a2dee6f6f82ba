package org.cloister.daemon.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.cloister.daemon.StaleSocketFile;

/**
 * HTTP/1.1 server on which operators and Prometheus query a daemon: on a Unix socket, or on loopback. It answers one
 * request per connection.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a client that has gone needs no answer
public final class AdminHttpServer implements AutoCloseable {
    /** Maximum of connections at a time; a larger number means clients that send no request. */
    static final int CONNECTIONS = 32;

    /** Seconds for a whole request, however slowly it arrives. */
    private static final int WAIT_S = 10;
    /** Seconds for a whole connection: one whose client does not read its answer is closed. */
    private static final int REQUEST_LIMIT_S = 60;

    private final Channel channel;

    private AdminHttpServer(Channel channel) {
        this.channel = channel;
    }

    /** Answers requests. */
    @FunctionalInterface
    public interface RequestHandler {
        /**
         * Answers a request; must not block.
         *
         * @param request readable until this returns; well-formed
         * @return never fails
         */
        CompletionStage<AdminResponse> answer(FullHttpRequest request);
    }

    /**
     * Listens on a Unix socket for the daemon's user and group. A socket on which no process answers was left by an
     * ended process, and is replaced.
     *
     * @param mostBytes of a request's body
     */
    public static AdminHttpServer listen(Path socket, RequestHandler answering, int mostBytes, EventLoopGroup loops)
            throws IOException {
        StaleSocketFile.clear(socket);
        AdminHttpServer listener = bind(
                NioServerDomainSocketChannel.class, UnixDomainSocketAddress.of(socket), answering, mostBytes, loops);
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw----"));
        return listener;
    }

    /** Listens on loopback for all users of this machine: requests must change nothing, and bodies are refused. */
    public static AdminHttpServer listen(InetSocketAddress loopback, RequestHandler answering, EventLoopGroup loops)
            throws IOException {
        return bind(NioServerSocketChannel.class, loopback, answering, 0, loops);
    }

    private static AdminHttpServer bind(
            Class<? extends ServerChannel> kind,
            SocketAddress address,
            RequestHandler answering,
            int mostBytes,
            EventLoopGroup loops)
            throws IOException {
        ConnectionLimit guests = new ConnectionLimit(CONNECTIONS);
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(kind)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        guests.admit(connection);
                        connection
                                .pipeline()
                                .addLast(
                                        new HttpServerCodec(),
                                        new HttpObjectAggregator(mostBytes),
                                        new RequestReader(answering));
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException("listen " + address + ": " + bound.cause().getMessage(), bound.cause());
        }
        return new AdminHttpServer(bound.channel());
    }

    public SocketAddress address() {
        return channel.localAddress();
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
    }

    private static final class RequestReader extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final RequestHandler answering;
        private boolean isAnswering;

        RequestReader(RequestHandler answering) {
            this.answering = answering;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            ScheduledFuture<?> request = ctx.executor()
                    .schedule(
                            () -> {
                                if (!isAnswering) {
                                    ctx.close();
                                }
                            },
                            WAIT_S,
                            TimeUnit.SECONDS);
            ScheduledFuture<?> timer = ctx.executor().schedule(() -> ctx.close(), REQUEST_LIMIT_S, TimeUnit.SECONDS);
            ctx.channel().closeFuture().addListener(closed -> {
                request.cancel(false);
                timer.cancel(false);
            });
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            if (isAnswering) {
                return;
            }
            isAnswering = true;
            if (request.decoderResult().isSuccess()) {
                answering.answer(request).thenAccept(each -> ctx.executor().execute(() -> write(ctx, each)));
            } else {
                write(ctx, AdminResponse.text(HttpResponseStatus.BAD_REQUEST, "not an HTTP request"));
            }
        }

        private static void write(ChannelHandlerContext ctx, AdminResponse answer) {
            ctx.writeAndFlush(answer.response()).addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
