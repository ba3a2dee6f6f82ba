package org.cloister.protocol.link;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2ConnectionPrefaceAndSettingsFrameWrittenEvent;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;

/**
 * HTTP/2 as links and channels want it: docs/protocol.md, sections 7 and 13. Each stream is a channel of its own on its
 * connection's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // ends of connections come as their own events
public final class LinkCodec {
    private LinkCodec() {}

    /** The side that is dialled. */
    public static void server(ChannelPipeline pipeline, ChannelHandler streams) {
        install(
                pipeline,
                Http2FrameCodecBuilder.forServer()
                        .initialSettings(settings().maxConcurrentStreams(LinkLimits.STREAMS))
                        .decoderEnforceMaxRstFramesPerWindow(
                                LinkLimits.RESETS, (int) LinkLimits.RESETS_WITHIN.toSeconds()),
                streams,
                false);
    }

    /** The side that dials and opens every stream. */
    public static void client(ChannelPipeline pipeline) {
        install(
                pipeline,
                // Resets cost no more than the streams it opened itself: refusals must not end a host's link for all
                // its VMs.
                Http2FrameCodecBuilder.forClient()
                        .initialSettings(settings().pushEnabled(false).maxConcurrentStreams(0))
                        .decoderEnforceMaxRstFramesPerWindow(0, 1),
                new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.close();
                    }
                },
                true);
    }

    private static void install(
            ChannelPipeline pipeline, Http2FrameCodecBuilder codec, ChannelHandler streams, boolean dialled) {
        pipeline.addLast(new KeepAlive(dialled, LinkLimits.PING.toNanos(), LinkLimits.DEAD.toNanos()));
        pipeline.addLast(
                codec.validateHeaders(true).gracefulShutdownTimeoutMillis(0).build());
        pipeline.addLast(new ConnectionWindow());
        pipeline.addLast(new Http2MultiplexHandler(streams));
    }

    private static Http2Settings settings() {
        return new Http2Settings()
                .initialWindowSize(LinkLimits.STREAM_WINDOW_BYTES)
                .maxFrameSize(LinkLimits.FRAME_BYTES)
                .maxHeaderListSize(LinkLimits.HEADER_LIST_BYTES);
    }

    /** Big enough for every stream's window, so that streams that are not read take nothing from the others. */
    private static final class ConnectionWindow extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof Http2ConnectionPrefaceAndSettingsFrameWrittenEvent) {
                ctx.writeAndFlush(new DefaultHttp2WindowUpdateFrame(
                        LinkLimits.CONNECTION_WINDOW_BYTES - Http2CodecUtil.DEFAULT_WINDOW_SIZE));
            }
            ctx.fireUserEventTriggered(event);
        }
    }
}
