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
import org.cloister.ctl.drive.BootSealing;
import org.cloister.protocol.Digest;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.BootKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Issuer;
import org.cloister.protocol.evidence.StatementRecord;
import org.cloister.protocol.evidence.StatementRefused;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.Unlock;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierTurns;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Opening;

/** A controlling VM that boots, and its host: both honest unless a test changes what they say. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class MiniVm implements AgentEvents, StatementRecord, AutoCloseable {
    static final Digest IMAGE = Digest.sha384("image");
    /** The epoch of a drive that nobody has. */
    static final long FORGED = 77;

    private static final SecureRandom RANDOM = new SecureRandom();

    /** What a test has the two say otherwise. */
    UnaryOperator<VmFacts> facts = each -> each;

    UnaryOperator<Claim> claim = each -> each;
    volatile Optional<EvidenceMessage.Why> reluctance = Optional.empty();
    volatile Optional<VmMessage> instead = Optional.empty();
    final AtomicInteger cutsAtQuestion = new AtomicInteger();
    volatile boolean cutAtUnlock;
    volatile boolean deafToUnlock;
    /** Who answers in its place, each once, when it was given its keys; with a word about a drive that is not there. */
    final Queue<Impostor> impostors = new ConcurrentLinkedQueue<>();

    volatile long found;
    SigningKey host;

    final List<VerifierMessage.Question> asked = new CopyOnWriteArrayList<>();
    final BootSealing sealing = new BootSealing();
    final CountDownLatch denials = new CountDownLatch(1);
    volatile VerifierMessage.Denied denied;
    volatile Unlock unlock;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Map<String, byte[]> statements = new ConcurrentHashMap<>();
    private final KeyPair signing = pair();
    private final Beliefs beliefs;
    private final Opening opening;
    private final Name name;
    private final MiniExchange exchange;
    private final AgentLink link;
    private final CountDownLatch served = new CountDownLatch(1);
    private volatile Credential own;
    private volatile boolean certified;

    /** Whoever has the VM's name, and another key. */
    enum Impostor {
        /** Certified in the project, as a VM that had the drive before. */
        BEFORE,
        /** By nobody, as anybody can make it. */
        BOOTING
    }

    MiniVm(MiniOffice relay, Credential host, Beliefs beliefs, Opening opening) throws Exception {
        this.beliefs = beliefs;
        this.opening = opening;
        this.exchange = relay.exchange();
        this.host = SigningKey.of(new KeyPair(host.chain().get(0).getPublicKey(), host.key()));
        this.name = opening.controller();
        this.own = Credential.of(
                signing.getPrivate(),
                List.of(BootCertificate.make(
                        name,
                        SubjectKey.parse(signing.getPublic().getEncoded()),
                        Signer.of(signing.getPrivate()),
                        Instant.now(),
                        RANDOM)));
        String[] at = relay.address().split(":", 2);
        AgentLink.Terms terms = new AgentLink.Terms(
                List.of(new InetSocketAddress(at[0], Integer.parseInt(at[1]))),
                () -> host,
                each -> each,
                beliefs,
                "a host");
        this.link = new AgentLink(loops, terms, this, RANDOM);
    }

    private static KeyPair pair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(Curve.P384.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    MiniVm boot() throws InterruptedException {
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
    public void attached(Attachment attachment) {
        attachment.serve(name);
    }

    @Override
    public void served(Name each, Optional<CloseReason> refused) {
        served.countDown();
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        Impostor impostor = certified ? impostors.poll() : null;
        Credential shown = impostor == null ? own : lie(impostor);
        boolean later = certified;
        Circuit.dialBack(
                attachment.link(),
                dial,
                shown,
                Trust.inParties(beliefs),
                (pipeline, circuit) -> pipeline.addLast(
                        new Framing(LinkLimits.UNLOCK_BYTES, VerifierMessage::read),
                        new Conversation(circuit, shown, later, impostor != null)));
    }

    private Credential lie(Impostor impostor) {
        try {
            KeyPair other = pair();
            SubjectKey subject = SubjectKey.of(SigningKey.of(other).verificationKey());
            return Credential.of(
                    other.getPrivate(),
                    impostor == Impostor.BEFORE
                            ? chain(subject)
                            : List.of(BootCertificate.make(
                                    name, subject, Signer.of(other.getPrivate()), Instant.now(), RANDOM)));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Of its own authority, for its own name. */
    private List<byte[]> chain(SubjectKey subject) throws IOException {
        SigningKey key = SigningKey.of(signing);
        List<byte[]> chain = new ArrayList<>();
        chain.add(Authority.load(unlock.authorities().get(0).toByteArray(), key::sign, RANDOM)
                .issue(name, subject, Instant.now(), Duration.ofHours(24)));
        unlock.authorities().forEach(each -> chain.add(each.toByteArray()));
        return chain;
    }

    @Override
    public boolean revoked(byte[] signed) {
        return true;
    }

    @Override
    public void lost(String why) {}

    @Override
    public Optional<byte[]> find(String vm) {
        return Optional.ofNullable(statements.get(vm));
    }

    @Override
    public void keep(String vm, byte[] payload) throws IOException {
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
        private final Credential shown;
        private final VerifierTurns turns;

        Conversation(Circuit circuit, Credential shown, boolean later, boolean lies) {
            this.circuit = circuit;
            this.shown = shown;
            this.turns = later ? VerifierTurns.unlocked() : VerifierTurns.booting(Role.CONTROLLER);
            if (later) {
                say(lies ? new VmMessage.Opened(FORGED, false) : end());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            turns.heard((VerifierMessage) message);
            if (message instanceof VerifierMessage.Question question) {
                asked.add(question);
                if (cutsAtQuestion.getAndDecrement() > 0) {
                    exchange.cut();
                } else {
                    say(answer(question));
                }
            } else if (message instanceof VerifierMessage.Denied said) {
                denied = said;
                denials.countDown();
            } else if (message instanceof Unlock given) {
                unlock = given;
                if (!deafToUnlock) {
                    take();
                }
                if (deafToUnlock || cutAtUnlock) {
                    exchange.cut();
                } else {
                    say(new VmMessage.Passed(BootPhase.DRIVE, Duration.ofMillis(3)));
                    say(instead.orElse(end()));
                }
            }
        }

        /** A circuit that ends is nothing to say: the opener opens another one. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }

        private VmMessage answer(VerifierMessage.Question question) throws Exception {
            if (reluctance.isPresent()) {
                VmMessage none = new VmMessage.NoStatement(reluctance.get());
                if (reluctance.get() == EvidenceMessage.Why.BUSY) {
                    reluctance = Optional.empty();
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
                    new Shape(opening.cpus(), opening.memoryMib(), 0),
                    Sharing.PROJECT);
            BootKeys keys = new BootKeys(SigningKey.of(signing).verificationKey(), sealing.shown());
            CircuitBinding binding = CircuitBinding.of(
                    shown.chain().get(0).getEncoded(),
                    circuit.peerCertificates().get(0).getEncoded());
            try {
                return new VmMessage.Shown(
                        ByteString.copyFrom(new Issuer("h1", host, MiniVm.this)
                                .issue(
                                        facts.apply(honest),
                                        claim.apply(new Claim(keys, question.nonce(), binding)),
                                        List.of(),
                                        Instant.now())
                                .bytes()),
                        Instant.now());
            } catch (StatementRefused e) {
                return new VmMessage.NoStatement(EvidenceMessage.Why.ANOTHER);
            }
        }

        /** Issues its own leaf, and shows it from now on. */
        private void take() throws IOException {
            List<byte[]> chain = chain(SubjectKey.of(SigningKey.of(signing).verificationKey()));
            Chain.parse(chain).verifyUnlisted(Set.of(Role.CONTROLLER), beliefs.anchors(), Instant.now());
            own = Credential.of(signing.getPrivate(), chain);
            certified = true;
        }

        private VmMessage end() {
            return new VmMessage.Opened(unlock.create() ? 0 : found, unlock.create());
        }

        private void say(VmMessage message) {
            circuit.channel().eventLoop().execute(() -> circuit.channel().writeAndFlush(Framing.frame(message.wire())));
        }
    }
}
