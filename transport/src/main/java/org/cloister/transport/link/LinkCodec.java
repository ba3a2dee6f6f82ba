package org.cloister.transport.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2LocalFlowController;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2LocalFlowController;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * Installs HTTP/2 with the settings of links and channels: docs/protocol.md, sections 7 and 13. Each stream is a
 * channel of its own on its connection's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the end of a connection is reported as its own event
public final class LinkCodec {
    private LinkCodec() {}

    /** Installs the side that accepts the connection. */
    public static void server(ChannelPipeline pipeline, LinkStreams limits, ChannelHandler streams) {
        server(pipeline, limits, streams, () -> {});
    }

    /**
     * Installs the side that accepts the connection, and reports violations of HTTP/2.
     *
     * @param broken called once or more when the connection ends because the other side violates HTTP/2
     */
    public static void server(ChannelPipeline pipeline, LinkStreams limits, ChannelHandler streams, Runnable broken) {
        Http2Connection connection = install(
                pipeline,
                Http2FrameCodecBuilder.forServer()
                        .initialSettings(settings(limits).maxConcurrentStreams(limits.count()))
                        .decoderEnforceMaxRstFramesPerWindow(
                                ProtocolLimits.RESETS, (int) ProtocolLimits.RESETS_WITHIN.toSeconds()),
                limits,
                streams,
                false);
        connection.addListener(new Http2ConnectionAdapter() {
            @Override
            public void onGoAwaySent(int lastStreamId, long error, ByteBuf why) {
                if (error != Http2Error.NO_ERROR.code()) {
                    broken.run();
                }
            }
        });
    }

    /** Installs the side that dials and opens every stream. */
    public static void client(ChannelPipeline pipeline, LinkStreams limits) {
        install(
                pipeline,
                // Resets are limited by the streams that this side opens, so they need no limit: refusals must not end
                // a host's link for all its VMs.
                Http2FrameCodecBuilder.forClient()
                        .initialSettings(settings(limits).pushEnabled(false).maxConcurrentStreams(0))
                        .decoderEnforceMaxRstFramesPerWindow(0, 1),
                limits,
                new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.close();
                    }
                },
                true);
    }

    private static Http2Connection install(
            ChannelPipeline pipeline,
            Http2FrameCodecBuilder codec,
            LinkStreams limits,
            ChannelHandler streams,
            boolean dialled) {
        pipeline.addLast(new LinkKeepAlive(dialled, ProtocolLimits.PING.toNanos(), ProtocolLimits.DEAD.toNanos()));
        Http2FrameCodec http2 =
                codec.validateHeaders(true).gracefulShutdownTimeoutMillis(0).build();
        pipeline.addLast(http2);
        pipeline.addLast(new ConnectionWindow(http2.connection(), limits));
        pipeline.addLast(new PlainGoAway());
        pipeline.addLast(new Http2MultiplexHandler(streams));
        return http2.connection();
    }

    private static Http2Settings settings(LinkStreams limits) {
        return new Http2Settings()
                .initialWindowSize(limits.window())
                .maxFrameSize(ProtocolLimits.FRAME_BYTES)
                .maxHeaderListSize(ProtocolLimits.HEADER_LIST_BYTES);
    }

    /**
     * Removes the debug data from a GOAWAY. Netty sends each open stream an event with its own reference to that data,
     * and so to all bytes read with it; a handler that does not pass on unknown events would never release it.
     */
    private static final class PlainGoAway extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2GoAwayFrame goAway) {
                long error = goAway.errorCode();
                goAway.release();
                ctx.fireChannelRead(new DefaultHttp2GoAwayFrame(error));
            } else {
                ctx.fireChannelRead(message);
            }
        }
    }

    /**
     * Enlarges the connection's window to that of all streams together, so that unread streams take nothing from the
     * others. It must be enlarged explicitly: SETTINGS do not change it (RFC 9113, section 6.9.2), and of Netty's
     * codecs only the client's reports that it has sent its SETTINGS.
     */
    private static final class ConnectionWindow extends ChannelInboundHandlerAdapter {
        private final Http2Connection connection;
        /**
         * Ratio at which the window is announced again, after half of a stream's window was read: with all other
         * streams unread, the last one still has its own window.
         */
        private final float notifyAt;

        ConnectionWindow(Http2Connection connection, LinkStreams limits) {
            this.connection = connection;
            this.notifyAt = 1 - limits.window() / (2f * ProtocolLimits.CONNECTION_WINDOW_BYTES);
        }

        /**
         * Enlarges the window after the preceding codec has sent its SETTINGS: now, or as soon as the channel is
         * active.
         */
        @Override
        public void handlerAdded(ChannelHandlerContext ctx) throws Http2Exception {
            if (ctx.channel().isActive()) {
                open(ctx);
            }
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws Http2Exception {
            open(ctx);
            ctx.fireChannelActive();
        }

        private void open(ChannelHandlerContext ctx) throws Http2Exception {
            Http2LocalFlowController window = connection.local().flowController();
            Http2Stream all = connection.connectionStream();
            ((DefaultHttp2LocalFlowController) window).windowUpdateRatio(all, notifyAt);
            // Netty itself has already enlarged the window a little.
            window.incrementWindowSize(all, ProtocolLimits.CONNECTION_WINDOW_BYTES - window.initialWindowSize(all));
            ctx.flush();
        }
    }
}
