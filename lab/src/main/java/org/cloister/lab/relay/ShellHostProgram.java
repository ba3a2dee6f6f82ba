package org.cloister.lab.relay;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.OpenCircuits;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/**
 * Program: {@code RELAY_PORT SSHD_PORT SITE GENESIS HOST VM}. A host with one controlling VM in it, reduced to what a
 * circuit needs: it forwards every circuit to the VM to an sshd on loopback. HOST and VM name {@code .pem} and
 * {@code .key}.
 */
public final class ShellHostProgram implements AgentLinkListener {
    private final TlsCredential vm;
    private final CertificateName name;
    private final CertifiedPeerVerifier trust;
    private final OpenCircuits open;
    private final int sshd;

    private ShellHostProgram(
            TlsCredential vm, CertificateName name, CertifiedPeerVerifier trust, OpenCircuits open, int sshd) {
        this.vm = vm;
        this.name = name;
        this.trust = trust;
        this.open = open;
        this.sshd = sshd;
    }

    public static void main(String[] args) throws IOException {
        Set<VerificationKey> site = new LinkedHashSet<>();
        for (X509Certificate each : PemCredentialFile.certificates(Path.of(args[2]))) {
            site.add(VerificationKey.of(each.getPublicKey()));
        }
        ProjectHistory project = ProjectHistory.fromGenesis(Files.readAllBytes(Path.of(args[3])));
        TrustStore trustStore = new TrustStore(
                TrustAnchors.none().withSite(site).withProject(project),
                RevocationLists.none(),
                InstantSource.system());
        TlsCredential host = credential(args[4]);
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        OpenCircuits open = new OpenCircuits(trustStore, loops.next(), ended -> System.out.println("ended"));
        ShellHostProgram shell = new ShellHostProgram(
                credential(args[5]),
                new CertificateName("c1", "controller", project.id()),
                CertifiedPeerVerifier.forCircuitEnds(trustStore),
                open,
                Integer.parseInt(args[1]));
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(RelaySiteFiles.loopback(Integer.parseInt(args[0]))),
                () -> host,
                each -> each,
                trustStore,
                "lab");
        try (AgentLink link = new AgentLink(loops, terms, shell, new SecureRandom())) {
            while (System.in.read() >= 0) {
                // The parent process closes its end.
            }
            System.out.println("over " + link.getClass().getSimpleName());
        }
        System.exit(0);
    }

    private static TlsCredential credential(String path) throws IOException {
        return PemCredentialFile.read(Path.of(path + ".pem"), Path.of(path + ".key"));
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachment.serve(name);
    }

    @Override
    public void onServed(CertificateName served, Optional<CloseReason> refused) {
        System.out.println("served" + refused.map(why -> ": " + why).orElse(""));
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // each failure is printed
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        Circuit.dialBack(attachment.link(), dial, vm, trust, this::connect).addListener(done -> {
            if (done.isSuccess()) {
                open.add((Circuit) done.getNow());
            } else {
                System.out.println("no circuit: " + done.cause().getMessage());
            }
        });
    }

    /** Connects to sshd on the circuit's loop; reading of the circuit waits for it. */
    @SuppressWarnings("FutureReturnValueIgnored") // each close arrives as its own event
    private void connect(ChannelPipeline pipeline, Circuit circuit) {
        Channel inside = circuit.channel();
        Half fromCircuit = new Half();
        pipeline.addLast(fromCircuit);
        inside.config().setAutoRead(false);
        new Bootstrap()
                .group(inside.eventLoop())
                .channel(NioSocketChannel.class)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Half(inside, circuit::shutdownOutput));
                    }
                })
                .connect(RelaySiteFiles.loopback(sshd))
                .addListener((io.netty.channel.ChannelFuture connected) -> {
                    if (!connected.isSuccess()) {
                        circuit.close(CloseReason.REFUSED);
                        return;
                    }
                    DuplexChannel socket = (DuplexChannel) connected.channel();
                    fromCircuit.to(socket, socket::shutdownOutput);
                    inside.config().setAutoRead(true);
                    socket.config().setAutoRead(true);
                });
    }

    @Override
    public void onLost(String why) {
        System.out.println("lost: " + why);
    }

    /**
     * Writes what it reads to the other half, as fast as that accepts it; both are on one event loop. Reads nothing
     * before both are open.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // each close arrives as its own event
    private static final class Half extends ChannelInboundHandlerAdapter {
        private @Nullable Channel other;
        private @Nullable Runnable end;

        Half() {}

        Half(Channel other, Runnable end) {
            to(other, end);
        }

        void to(Channel channel, Runnable atEnd) {
            other = channel;
            end = atEnd;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (other == null) {
                throw new IllegalStateException("read before there is somebody to write to");
            }
            other.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (other != null) {
                other.flush();
                ctx.channel().config().setAutoRead(other.isWritable());
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            if (ctx.channel().isWritable() && other != null) {
                other.config().setAutoRead(true);
            }
            ctx.fireChannelWritabilityChanged();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE && end != null) {
                end.run();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (other != null) {
                other.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.out.println("circuit broken: " + cause.getMessage());
            ctx.close();
        }
    }
}
