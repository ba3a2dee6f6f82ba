package org.cloister.lab.guest;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.channel.EvidenceQuestion;
import org.cloister.protocol.channel.PortDialler;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.BootKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;

/** A VM's agent, reduced to its channel: serves its name, sends back what comes over a circuit, and prints what happens. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a circuit comes as its end
public final class ChannelScript implements AgentEvents {
    private final Credential own;
    private final Name name;
    private final Trust trust;
    private final Claim claim;

    private ChannelScript(Credential own, Name name, Trust trust) throws IOException, GeneralSecurityException {
        this.own = own;
        this.name = name;
        this.trust = trust;
        this.claim = new Claim(
                new BootKeys(VerificationKey.of(own.chain().get(0).getPublicKey()), sealing()),
                Nonce.random(new SecureRandom()),
                CircuitBinding.of(new byte[1], new byte[2]));
    }

    private static VerificationKey sealing() throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(Curve.P384.standardName()));
        return VerificationKey.of(generator.generateKeyPair().getPublic());
    }

    /** @param args a folder with what {@link RelaySite} wrote for everybody and for the controlling VM */
    public static void main(String[] args) throws IOException, GeneralSecurityException, InterruptedException {
        Path folder = Path.of(args[0]);
        RelaySite site = RelaySite.at(folder);
        Beliefs beliefs = site.beliefs();
        Name name = site.controller();
        ChannelScript agent = new ChannelScript(site.credential(name), name, Trust.inParties(beliefs));
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        PortDialler port = new PortDialler(loops.next(), PortDialler.device());
        try (AgentLink link = new AgentLink(loops.next(), port, "lab", beliefs, agent, new SecureRandom())) {
            System.out.println("begun " + link.getClass().getSimpleName());
            new CountDownLatch(1).await();
        }
    }

    @Override
    public void attached(Attachment attachment) {
        System.out.println("attached");
        attachment.serve(name);
        EvidenceQuestion.ask(attachment.link(), claim).addListener((Future<Envelope> answer) -> {
            if (answer.isSuccess()) {
                System.out.println(
                        "evidence " + BinaryText.base64(answer.getNow().bytes()));
            } else {
                System.out.println("no evidence: " + answer.cause().getMessage());
            }
        });
    }

    @Override
    public void served(Name served, Optional<CloseReason> refused) {
        System.out.println("served " + refused.map(CloseReason::toString).orElse("from now on"));
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        Circuit.dialBack(
                        attachment.link(), dial, own, trust, (pipeline, circuit) -> pipeline.addLast(new Echo(circuit)))
                .addListener(done -> System.out.println(
                        done.isSuccess()
                                ? "circuit"
                                : "no circuit: " + done.cause().getMessage()));
    }

    @Override
    public boolean revoked(byte[] signed) {
        System.out.println("revocations");
        return true;
    }

    @Override
    public void lost(String why) {
        System.out.println("lost: " + why);
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        private final Circuit circuit;

        Echo(Circuit circuit) {
            this.circuit = circuit;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                circuit.endOutput();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.out.println("circuit broken: " + cause.getMessage());
        }
    }
}
