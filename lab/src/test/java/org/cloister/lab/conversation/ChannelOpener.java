package org.cloister.lab.conversation;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.base.encoding.Digest;
import org.cloister.host.resources.VmPlan;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationResult;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceVerifier;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.ReferenceValues;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.relay.links.LoopbackRelay;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;

/**
 * Opener that requests a controlling VM's evidence and appraises it, on as many circuits as it takes, with the same
 * nonce on each.
 */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class ChannelOpener implements AutoCloseable {
    private static final long TIMEOUT_S = 30;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Nonce nonce = Nonce.random(new SecureRandom());
    private final CertificateName controller;
    private final CertificateName name;
    private final TlsCredential own;
    private final ProjectPolicy policy;
    private final VerificationKey host;
    private final VmPlan plan;
    private final ClientLink link;

    /** @param host whose VM it is by the plan */
    ChannelOpener(LoopbackRelay relay, CertificateName controller, VmPlan plan, VerificationKey host) throws Exception {
        this.controller = controller;
        this.name = relay.opener();
        this.own = relay.credential(name);
        this.plan = plan;
        this.host = host;
        this.policy = new ProjectPolicy(
                controller.project(),
                1,
                Instant.now().minusSeconds(60),
                Instant.now().plusSeconds(3600),
                AssuranceLevel.HOST_WORD,
                List.of(new AcceptedHost("n1", host)),
                List.of(new AcceptedImage(plan.image(), Optional.empty())),
                plan.facts().shape(),
                plan.facts().shape(),
                HostSharing.PROJECT,
                true,
                1,
                Set.of());
        this.link = ClientLink.dial(
                        loops,
                        relay.address(),
                        relay.credential(relay.device()),
                        CertifiedPeerVerifier.forRelays(relay.trustStore()))
                .get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    /** Messages received on one circuit. */
    private static final class Answer extends SimpleChannelInboundHandler<VmMessage> {
        private final CompletableFuture<VmMessage> first = new CompletableFuture<>();

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, VmMessage message) {
            first.complete(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            first.cancel(false);
        }
    }

    /** @return the verdict on what the VM shows on one circuit; empty if nothing came of it */
    Optional<AttestationResult> ask() throws Exception {
        Answer answer = new Answer();
        Circuit circuit;
        try {
            circuit = Circuit.open(
                            link,
                            new CircuitTerms(name, controller, Digest.sha384("a policy")),
                            own,
                            BootPeerVerifier.forBootingVm(),
                            (pipeline, on) -> pipeline.addLast(
                                    new MessageFraming(ProtocolLimits.BOOTING_VM_MESSAGE_BYTES, VmMessage::read),
                                    answer))
                    .get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof CircuitException) {
                return Optional.empty();
            }
            throw e;
        }
        Channel channel = circuit.channel();
        channel.writeAndFlush(MessageFraming.frame(new VerifierMessage.Question(nonce).wire()));
        try {
            VmMessage message = answer.first.get(TIMEOUT_S, TimeUnit.SECONDS);
            return message instanceof VmMessage.Evidence evidence
                    ? Optional.of(appraise(circuit, evidence))
                    : Optional.empty();
        } catch (CancellationException | TimeoutException e) {
            return Optional.empty();
        } finally {
            circuit.shutdownOutput();
        }
    }

    private AttestationResult appraise(Circuit circuit, VmMessage.Evidence evidence) throws Exception {
        CircuitBinding binding = CircuitBinding.of(
                circuit.peerCertificates().get(0).getEncoded(),
                own.chain().get(0).getEncoded());
        return EvidenceVerifier.appraise(
                policy,
                new ReferenceValues(
                        VmRole.CONTROLLER,
                        plan.owner().ticket(),
                        plan.owner().slot(),
                        host,
                        false,
                        nonce,
                        circuit.peerIdentity().key(),
                        binding,
                        true,
                        false,
                        false,
                        0),
                DsseEnvelope.parse(evidence.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                Instant.now());
    }

    @Override
    public void close() {
        link.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
