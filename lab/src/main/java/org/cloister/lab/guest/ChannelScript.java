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
import org.cloister.base.encoding.BinaryText;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.channel.EvidenceQuery;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;

/**
 * An agent of a VM, reduced to its channel: serves its name, returns what it receives over a circuit, and prints
 * events.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a circuit arrives as its close
public final class ChannelScript implements AgentLinkListener {
    private final TlsCredential own;
    private final CertificateName name;
    private final CertifiedPeerVerifier trust;
    private final AttestationClaims claim;

    private ChannelScript(TlsCredential own, CertificateName name, CertifiedPeerVerifier trust)
            throws IOException, GeneralSecurityException {
        this.own = own;
        this.name = name;
        this.trust = trust;
        this.claim = new AttestationClaims(
                new BootPublicKeys(VerificationKey.of(own.chain().get(0).getPublicKey()), sealing()),
                Nonce.random(new SecureRandom()),
                CircuitBinding.of(new byte[1], new byte[2]));
    }

    private static VerificationKey sealing() throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(SignatureCurve.P384.standardName()));
        return VerificationKey.of(generator.generateKeyPair().getPublic());
    }

    /**
     * @param args a folder with the files that {@link RelaySiteFiles} wrote for everybody and for the controlling VM
     */
    public static void main(String[] args) throws IOException, GeneralSecurityException, InterruptedException {
        Path folder = Path.of(args[0]);
        RelaySiteFiles site = RelaySiteFiles.at(folder);
        TrustStore trustStore = site.beliefs();
        CertificateName name = site.controller();
        ChannelScript agent =
                new ChannelScript(site.credential(name), name, CertifiedPeerVerifier.forCircuitEnds(trustStore));
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        HostPortDialler port = new HostPortDialler(loops.next(), HostPortDialler.device());
        try (AgentLink link = new AgentLink(loops.next(), port, "lab", trustStore, agent, new SecureRandom())) {
            System.out.println("begun " + link.getClass().getSimpleName());
            new CountDownLatch(1).await();
        }
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        System.out.println("attached");
        attachment.serve(name);
        EvidenceQuery.ask(attachment.link(), claim).addListener((Future<DsseEnvelope> answer) -> {
            if (answer.isSuccess()) {
                System.out.println(
                        "evidence " + BinaryText.base64(answer.getNow().bytes()));
            } else {
                System.out.println("no evidence: " + answer.cause().getMessage());
            }
        });
    }

    @Override
    public void onServed(CertificateName served, Optional<CloseReason> refused) {
        System.out.println("served " + refused.map(CloseReason::toString).orElse("from now on"));
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        Circuit.dialBack(
                        attachment.link(), dial, own, trust, (pipeline, circuit) -> pipeline.addLast(new Echo(circuit)))
                .addListener(done -> System.out.println(
                        done.isSuccess()
                                ? "circuit"
                                : "no circuit: " + done.cause().getMessage()));
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        System.out.println("revocations");
        return true;
    }

    @Override
    public void onLost(String why) {
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
                circuit.shutdownOutput();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.out.println("circuit broken: " + cause.getMessage());
        }
    }
}
