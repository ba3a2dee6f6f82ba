package org.cloister.lab.guest;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2PingFrame;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;

/** Attacks its host from a VM over its channel, in one way for each session, and prints when each session has ended. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write shows as the session's end
public final class FloodScript {
    private static final int PIECES = 64;

    private FloodScript() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        HostPortDialler port = new HostPortDialler(loops.next(), HostPortDialler.device());
        during(port, "garbage", FloodScript::garbage);
        during(port, "pings", link -> repeat(link, FloodScript::ping));
        during(port, "streams", link -> repeat(link, FloodScript::openStream));
        during(port, "words", FloodScript::words);
        System.out.println("over");
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private static void during(HostPortDialler port, String what, Consumer<ClientLink> action)
            throws InterruptedException {
        ClientLink link = null;
        while (link == null) {
            try {
                link = port.dial().get();
            } catch (ExecutionException e) {
                System.out.println("again: " + e.getMessage());
                TimeUnit.SECONDS.sleep(1);
            }
        }
        ClientLink session = link;
        session.loop().execute(() -> action.accept(session));
        session.closeFuture().await();
        System.out.println(what + " ended");
    }

    /** Sends bytes below HTTP/2 that are not one of its frames. */
    private static void garbage(ClientLink link) {
        byte[] bytes = new byte[1 << 16];
        Arrays.fill(bytes, (byte) 0xee);
        link.channel().pipeline().firstContext().writeAndFlush(Unpooled.wrappedBuffer(bytes));
    }

    private static void repeat(ClientLink link, Consumer<ClientLink> one) {
        if (!link.channel().isActive()) {
            return;
        }
        for (int i = 0; i < PIECES; i++) {
            one.accept(link);
        }
        link.channel().flush();
        link.loop().schedule(() -> repeat(link, one), 1, TimeUnit.MILLISECONDS);
    }

    private static void ping(ClientLink link) {
        link.channel().write(new DefaultHttp2PingFrame(7));
    }

    /** Opens a request that is not accepted, and is ended at once. */
    private static void openStream(ClientLink link) {
        new Http2StreamChannelBootstrap(link.channel())
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {}
                })
                .open()
                .addListener(opened -> {
                    if (opened.isSuccess()) {
                        Channel stream = (Channel) opened.getNow();
                        stream.writeAndFlush(new DefaultHttp2HeadersFrame(
                                new StreamRequest.Attach(ProtocolVersions.OURS)
                                        .headers()
                                        .path("/nothing"),
                                false));
                    }
                });
    }

    /** Attaches and sends many messages that were not requested. */
    private static void words(ClientLink link) {
        link.open(new StreamRequest.Attach(ProtocolVersions.OURS), stream -> {
            send(stream, new AgentMessage.Attach("flood"));
            sendAgain(stream);
        });
    }

    private static void sendAgain(Channel stream) {
        if (!stream.isActive()) {
            return;
        }
        for (int i = 0; i < PIECES; i++) {
            send(stream, new AgentMessage.RevocationsKept(Digest.sha256(new byte[i])));
        }
        stream.eventLoop().schedule(() -> sendAgain(stream), 1, TimeUnit.MILLISECONDS);
    }

    private static void send(Channel stream, AgentMessage message) {
        stream.writeAndFlush(MessageFraming.frame(message.wire()));
    }
}
