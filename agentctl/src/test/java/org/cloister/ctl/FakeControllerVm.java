package org.cloister.ctl;

import com.google.protobuf.ByteString;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileAlreadyExistsException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.cloister.base.encoding.Digest;
import org.cloister.ctl.drive.BootSealingKey;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.EvidenceStore;
import org.cloister.protocol.evidence.IssuanceRefusedException;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierMessageOrder;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.Opening;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;

/** A controlling VM that boots, and its host: both honest unless a test changes what they say. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class FakeControllerVm implements AgentLinkListener, EvidenceStore, AutoCloseable {
    static final Digest IMAGE = Digest.sha384("image");
    /** The epoch of a drive that nobody has. */
    static final long FORGED = 77;

    private static final SecureRandom RANDOM = new SecureRandom();

    /** What a test has the two say otherwise. */
    UnaryOperator<VmFacts> facts = each -> each;

    UnaryOperator<AttestationClaims> claim = each -> each;
    volatile Optional<EvidenceMessage.RefusalReason> refusalReason = Optional.empty();
    volatile Optional<VmMessage> instead = Optional.empty();
    final AtomicInteger cutsAtQuestion = new AtomicInteger();
    volatile boolean cutAtUnlock;
    volatile boolean deafToUnlock;
    /** Who answers in its place, each once, when it was given its keys; with a word about a drive that is not there. */
    final Queue<Impostor> impostors = new ConcurrentLinkedQueue<>();

    volatile long found;
    volatile Optional<VmEndReport> lastEnd = Optional.empty();
    SigningKey host;

    final List<VerifierMessage.Question> questions = new CopyOnWriteArrayList<>();
    final BootSealingKey sealing = new BootSealingKey();
    final CountDownLatch denials = new CountDownLatch(1);
    final CountDownLatch acknowledgements = new CountDownLatch(1);
    volatile VerifierMessage.Denied denied;
    volatile ProjectUnlock unlock;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Map<String, byte[]> statements = new ConcurrentHashMap<>();
    private final KeyPair signing = pair();
    private final TrustStore trustStore;
    private final Opening opening;
    private final CertificateName name;
    private final LoopbackCircuits exchange;
    private final AgentLink link;
    private final CountDownLatch served = new CountDownLatch(1);
    private volatile TlsCredential own;
    private volatile boolean certified;

    /** Impostor with the VM's name and another key. */
    enum Impostor {
        /** Certified in the project, as a VM that had the drive before. */
        BEFORE,
        /** By nobody, as anybody can make it. */
        BOOTING
    }

    FakeControllerVm(LoopbackTicketRelay relay, TlsCredential host, TrustStore trustStore, Opening opening)
            throws Exception {
        this.trustStore = trustStore;
        this.opening = opening;
        this.exchange = relay.exchange();
        this.host = SigningKey.of(new KeyPair(host.chain().get(0).getPublicKey(), host.key()));
        this.name = opening.controller();
        this.own = TlsCredential.of(
                signing.getPrivate(),
                List.of(BootCertificate.make(
                        name,
                        SubjectPublicKey.parse(signing.getPublic().getEncoded()),
                        CertificateSigner.of(signing.getPrivate()),
                        Instant.now(),
                        RANDOM)));
        String[] at = relay.address().split(":", 2);
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(new InetSocketAddress(at[0], Integer.parseInt(at[1]))),
                () -> host,
                each -> each,
                trustStore,
                "a host");
        this.link = new AgentLink(loops, terms, this, RANDOM);
    }

    private static KeyPair pair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P384.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    FakeControllerVm boot() throws InterruptedException {
        if (!served.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("the VM's name is not served");
        }
        return this;
    }

    /** Of the drive's key that it was given. */
    Digest key() throws IOException {
        return sealing.opened(
                unlock.sealingContext(opening.project()),
                unlock.driveKey().bytes().toByteArray());
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachment.serve(name);
    }

    @Override
    public void onServed(CertificateName each, Optional<CloseReason> refused) {
        served.countDown();
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        Impostor impostor = certified ? impostors.poll() : null;
        TlsCredential presented = impostor == null ? own : lie(impostor);
        boolean later = certified;
        Circuit.dialBack(
                attachment.link(),
                dial,
                presented,
                CertifiedPeerVerifier.forCircuitEnds(trustStore),
                (pipeline, circuit) -> pipeline.addLast(
                        new MessageFraming(ProtocolLimits.UNLOCK_BYTES, VerifierMessage::read),
                        new Conversation(circuit, presented, later, impostor != null)));
    }

    private TlsCredential lie(Impostor impostor) {
        try {
            KeyPair other = pair();
            SubjectPublicKey subject = SubjectPublicKey.of(SigningKey.of(other).verificationKey());
            return TlsCredential.of(
                    other.getPrivate(),
                    impostor == Impostor.BEFORE
                            ? chain(subject)
                            : List.of(BootCertificate.make(
                                    name, subject, CertificateSigner.of(other.getPrivate()), Instant.now(), RANDOM)));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Of its own authority, for its own name. */
    private List<byte[]> chain(SubjectPublicKey subject) throws IOException {
        SigningKey key = SigningKey.of(signing);
        List<byte[]> chain = new ArrayList<>();
        chain.add(CertificateAuthority.load(unlock.authorities().get(0).toByteArray(), key::sign, RANDOM)
                .issue(name, subject, Instant.now(), Duration.ofHours(24)));
        unlock.authorities().forEach(each -> chain.add(each.toByteArray()));
        return chain;
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        return true;
    }

    @Override
    public void onLost(String why) {}

    @Override
    public Optional<byte[]> find(String vm) {
        return Optional.ofNullable(statements.get(vm));
    }

    @Override
    public void store(String vm, byte[] payload) throws IOException {
        if (statements.putIfAbsent(vm, payload) != null) {
            throw new FileAlreadyExistsException(vm);
        }
    }

    @Override
    public void close() {
        link.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        sealing.close();
    }

    private final class Conversation extends ChannelInboundHandlerAdapter {
        private final Circuit circuit;
        private final TlsCredential presented;
        private final VerifierMessageOrder order;

        Conversation(Circuit circuit, TlsCredential presented, boolean later, boolean isLying) {
            this.circuit = circuit;
            this.presented = presented;
            this.order = later
                    ? VerifierMessageOrder.forUnlocked()
                    : VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER);
            if (later) {
                send(isLying ? new VmMessage.Opened(FORGED, false) : finalMessage());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            order.accept((VerifierMessage) message);
            if (message instanceof VerifierMessage.Question question) {
                questions.add(question);
                if (cutsAtQuestion.getAndDecrement() > 0) {
                    exchange.cut();
                } else {
                    send(answer(question));
                }
            } else if (message instanceof VerifierMessage.Denied denial) {
                denied = denial;
                denials.countDown();
            } else if (message instanceof VerifierMessage.Acknowledgement) {
                acknowledgements.countDown();
            } else if (message instanceof ProjectUnlock projectUnlock) {
                unlock = projectUnlock;
                if (!deafToUnlock) {
                    receiveUnlock();
                }
                if (deafToUnlock || cutAtUnlock) {
                    exchange.cut();
                } else {
                    send(new VmMessage.PhaseCompleted(BootPhase.DRIVE, Duration.ofMillis(3)));
                    send(instead.orElse(finalMessage()));
                }
            }
        }

        /** A circuit that ends is nothing to say: the opener opens another one. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }

        private VmMessage answer(VerifierMessage.Question question) throws Exception {
            if (refusalReason.isPresent()) {
                VmMessage none = new VmMessage.NoStatement(refusalReason.get());
                if (refusalReason.get() == EvidenceMessage.RefusalReason.BUSY) {
                    refusalReason = Optional.empty();
                }
                return none;
            }
            VmFacts honest = new VmFacts(
                    opening.project(),
                    "tq4bcfcxfokh6sbolidgqd2f3i",
                    VmRole.CONTROLLER,
                    opening.id(),
                    0,
                    IMAGE,
                    new VmShape(opening.cpus(), opening.memoryMib(), 0),
                    HostSharing.PROJECT);
            BootPublicKeys keys = new BootPublicKeys(SigningKey.of(signing).verificationKey(), sealing.shown());
            CircuitBinding binding = CircuitBinding.of(
                    presented.chain().get(0).getEncoded(),
                    circuit.peerCertificates().get(0).getEncoded());
            try {
                return new VmMessage.Evidence(
                        ByteString.copyFrom(new EvidenceStatementSigner("h1", host, FakeControllerVm.this)
                                .issue(
                                        facts.apply(honest),
                                        claim.apply(new AttestationClaims(keys, question.nonce(), binding)),
                                        List.of(),
                                        Instant.now())
                                .bytes()),
                        Instant.now());
            } catch (IssuanceRefusedException e) {
                return new VmMessage.NoStatement(EvidenceMessage.RefusalReason.ANOTHER);
            }
        }

        /** Issues its own leaf, and shows it from now on. */
        private void receiveUnlock() throws IOException {
            List<byte[]> chain =
                    chain(SubjectPublicKey.of(SigningKey.of(signing).verificationKey()));
            CertificateChain.parse(chain)
                    .verifyUnlisted(Set.of(CertificateRole.CONTROLLER), trustStore.anchors(), Instant.now());
            own = TlsCredential.of(signing.getPrivate(), chain);
            certified = true;
        }

        private VmMessage finalMessage() {
            return new VmMessage.Opened(unlock.create() ? 0 : found, unlock.create(), lastEnd);
        }

        private void send(VmMessage message) {
            circuit.channel()
                    .eventLoop()
                    .execute(() -> circuit.channel().writeAndFlush(MessageFraming.frame(message.wire())));
        }
    }
}
