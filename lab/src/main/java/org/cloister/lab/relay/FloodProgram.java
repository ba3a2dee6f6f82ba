package org.cloister.lab.relay;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/**
 * Program: {@code FOLDER PORT}. Devices of one project that misbehave as long as the input is open, two minutes at
 * most, each stream with a bounded number of bytes a turn. {@value #LINKS} links with {@value #STREAMS} ticket streams
 * each send in turn small requests, requests whose answers are not read, chains with invalid signatures, and malformed
 * openings. A stream that the relay refuses or ends is opened again in the next turn. Prints {@code flooding} when all
 * links are open.
 */
public final class FloodProgram {
    static final int LINKS = 64;
    static final int STREAMS = 128;

    private static final Duration SLICE = Duration.ofSeconds(2);
    private static final Duration LONGEST = Duration.ofMinutes(2);
    private static final int TIMEOUT_S = 20;
    /** Maximum number of bytes of one stream in one turn. */
    private static final int MOST_BYTES = 1 << 22;

    private static final StreamRequest TICKETS = new StreamRequest.Tickets(ProtocolVersions.OURS, Optional.empty());

    /** Data that is written repeatedly, of each kind. */
    private final List<ByteBuf> kinds;

    private FloodProgram(List<ByteBuf> kinds) {
        this.kinds = kinds;
    }

    public static void main(String[] args) throws Exception {
        RelaySiteFiles site = RelaySiteFiles.at(Path.of(args[0]));
        EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("loop", true), NioIoHandler.newFactory());
        CertifiedPeerVerifier relay =
                CertifiedPeerVerifier.forRelays(site.beliefs()).only(RelaySiteFiles.RELAY);
        TlsCredential own = site.credential(site.device());
        ByteBuf questions = chunk(new AgentTicketMessage.QueryQuota());
        ByteString nothing = ByteString.copyFrom(new byte[1000]);
        List<ByteString> chain = chain(site.credential(site.opener()));
        FloodProgram flood = new FloodProgram(List.of(
                questions,
                questions,
                chunk(new AgentTicketMessage.Open(List.of(broken(chain.get(0))), nothing)),
                chunk(new AgentTicketMessage.Open(chain, nothing))));
        List<Offender> offenders = new ArrayList<>();
        for (int i = 0; i < LINKS; i++) {
            ClientLink link = ClientLink.dial(loops, RelaySiteFiles.loopback(Integer.parseInt(args[1])), own, relay)
                    .get(TIMEOUT_S, TimeUnit.SECONDS);
            for (int j = 0; j < STREAMS; j++) {
                Offender offender = flood.new Offender(link, i + j);
                offenders.add(offender);
            }
        }
        System.out.println("flooding");
        flood.last(offenders);
        System.exit(0);
    }

    private void last(List<Offender> offenders) throws IOException, InterruptedException {
        long endNs = System.nanoTime() + LONGEST.toNanos();
        long sliceNs = System.nanoTime() - SLICE.toNanos();
        while (System.nanoTime() - endNs < 0) {
            if (System.in.available() > 0) {
                return;
            }
            Thread.sleep(100);
            if (System.nanoTime() - sliceNs > SLICE.toNanos()) {
                sliceNs = System.nanoTime();
                offenders.forEach(each -> each.link.loop().execute(each::sendNext));
            }
        }
    }

    /** Returns as many copies of a message as fit into a frame, at least one. */
    private static ByteBuf chunk(AgentTicketMessage message) {
        ByteBuf one = MessageFraming.frame(message.wire());
        ByteBuf all = Unpooled.directBuffer();
        do {
            all.writeBytes(one.duplicate());
        } while (all.readableBytes() + one.readableBytes() <= ProtocolLimits.FRAME_BYTES);
        return Unpooled.unreleasableBuffer(all);
    }

    private static List<ByteString> chain(TlsCredential own) throws CertificateEncodingException {
        List<ByteString> chain = new ArrayList<>();
        for (var each : own.chain()) {
            chain.add(ByteString.copyFrom(each.getEncoded()));
        }
        return chain;
    }

    /** Returns the same certificate with another signature. */
    private static ByteString broken(ByteString certificate) {
        byte[] bytes = certificate.toByteArray();
        bytes[bytes.length - 1] ^= 1;
        return ByteString.copyFrom(bytes);
    }

    /** A misbehaving stream, on its link's event loop. */
    @SuppressWarnings("FutureReturnValueIgnored") // a refused or ended stream is opened again
    private final class Offender extends ChannelInboundHandlerAdapter {
        private final ClientLink link;
        private int kind;
        private boolean opening;
        private int sent;
        private @Nullable Channel stream;

        Offender(ClientLink link, int kind) {
            this.link = link;
            this.kind = kind;
        }

        void sendNext() {
            kind++;
            sent = 0;
            Channel now = stream;
            if (now != null && now.isActive()) {
                now.config().setAutoRead(kind % kinds.size() != 1);
                send(now);
            } else if (!opening && link.channel().isActive()) {
                opening = true;
                link.open(TICKETS, opened -> {
                            opened.pipeline().addLast(this);
                            stream = opened;
                            send(opened);
                        })
                        .addListener((Future<? super Channel> done) -> opening = false);
            }
        }

        private void send(Channel to) {
            ByteBuf chunk = kinds.get(Math.floorMod(kind, kinds.size()));
            while (to.isActive() && to.isWritable() && sent < MOST_BYTES) {
                sent += chunk.readableBytes();
                to.writeAndFlush(chunk.duplicate());
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            send(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
        }

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
