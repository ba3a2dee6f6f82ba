package org.cloister.vm.controller.unlock;

import com.google.protobuf.ByteString;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.SecureRandom;
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceRefusedException;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the opener of this VM's assignment: shows the host's evidence on a circuit, and accepts one unlock. From then
 * on the VM shows the certificate chain that it received, and reports the outcome for the drive on each later circuit.
 * Responses and openings are processed one after the other.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failing channel closes, which is handled
public final class UnlockServer {
    private static final Logger LOG = LoggerFactory.getLogger(UnlockServer.class);

    private final Context terms;
    private final AttestationRequest vouching;
    private final ProjectOpening opens;
    private final Executor work;
    private final InstantSource clock;
    private final Consumer<String> ended;
    private final SecureRandom random = new SecureRandom();
    /** Targets of the evidence shown, by open circuit. Used on the work thread only. */
    private final Map<OpenerSession, HandoverTarget> shown = new HashMap<>();

    private final UnlockState state;

    /**
     * Identity of the VM, and the openers that it accepts.
     *
     * @param boot its boot certificate, the same for the VM's life, since evidence is valid for one certificate
     * @param openers verifies openers of the project
     */
    public record Context(
            UnlockVerification.VmIdentity identity,
            BootPublicKeys keys,
            TlsCredential boot,
            CertifiedPeerVerifier openers) {}

    /** Requests evidence of this VM from its host. */
    @FunctionalInterface
    public interface AttestationRequest {
        Future<DsseEnvelope> send(AttestationClaims claim);
    }

    /** Opens the project in this VM. */
    @FunctionalInterface
    public interface ProjectOpening {
        /**
         * Opens the project; blocks until the drive is open.
         *
         * @throws UnlockRefused if that fails; this VM must then end
         */
        VmMessage.Opened open(VerifiedUnlock unlocked) throws UnlockRefused;
    }

    /**
     * @param work one thread, which may block
     * @param ended called with the reason, once or more, if this VM can never be opened
     */
    public UnlockServer(
            Context terms,
            AttestationRequest vouching,
            ProjectOpening opens,
            Executor work,
            InstantSource clock,
            Consumer<String> ended) {
        this.terms = terms;
        this.vouching = vouching;
        this.opens = opens;
        this.work = work;
        this.clock = clock;
        this.ended = ended;
        this.state = new UnlockState(terms);
    }

    /** Accepts a connection that does not claim to be a worker. Called on the link's event loop. */
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        if (!dial.from().equals(terms.identity().assignment().requester())
                || !dial.to().equals(terms.identity().assignment().name())) {
            LOG.warn("{}: not the opener of this VM", dial.from());
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        if (!state.whenDecided(() -> answer(attachment, dial))) {
            attachment.refuse(dial, CloseReason.LIMIT);
        }
    }

    private void answer(AgentAttachStream attachment, RelayMessage.Dial dial) {
        Optional<TlsCredential> certified;
        try {
            certified = state.credential(System.nanoTime());
        } catch (IOException e) {
            LOG.warn("opener {}: no circuit: {}", dial.from(), e.getMessage());
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        Circuit.dialBack(
                        attachment.link(),
                        dial,
                        certified.orElse(terms.boot()),
                        terms.openers(),
                        certified.isPresent() ? this::installLater : this::startSession)
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess()) {
                        LOG.warn(
                                "opener {}: no circuit: {}",
                                dial.from(),
                                opened.cause().getMessage());
                    }
                });
    }

    /** Starts a session on a circuit on which this VM showed its boot certificate. */
    void startSession(ChannelPipeline pipeline, Circuit circuit) {
        OpenerSession talk = OpenerSession.booting(circuit, this::heard);
        add(pipeline, talk);
        circuit.channel().closeFuture().addListener(closed -> work.execute(() -> shown.remove(talk)));
    }

    private void installLater(ChannelPipeline pipeline, Circuit circuit) {
        OpenerSession talk = OpenerSession.unlocked(circuit, this::heard);
        add(pipeline, talk);
        circuit.channel().closeFuture().addListener(closed -> state.remove(talk));
        state.sendOutcome(talk);
    }

    private static void add(ChannelPipeline pipeline, OpenerSession talk) {
        pipeline.addLast(new MessageFraming(ProtocolLimits.UNLOCK_BYTES, VerifierMessage::read), talk);
    }

    private void heard(OpenerSession talk, VerifierMessage message) {
        if (message instanceof VerifierMessage.Question question) {
            asked(talk, question.nonce());
        } else if (message instanceof ProjectUnlock unlock) {
            state.startDecision();
            work.execute(() -> unlock(talk, unlock));
        } else if (message instanceof VerifierMessage.Denied denied) {
            LOG.warn("opener denies: {}: {}", denied.clauses(), denied.text());
            talk.finishOutput();
        }
    }

    private void asked(OpenerSession talk, Nonce nonce) {
        AttestationClaims claim;
        try {
            claim = new AttestationClaims(terms.keys(), nonce, binding(talk.circuit()));
        } catch (CertificateEncodingException e) {
            LOG.error("opener: a certificate has no DER", e);
            talk.finishOutput();
            return;
        }
        vouching.send(claim)
                .addListener((Future<DsseEnvelope> answer) -> work.execute(() -> vouched(talk, nonce, answer)));
    }

    private void vouched(OpenerSession talk, Nonce nonce, Future<DsseEnvelope> answer) {
        if (answer.isSuccess()) {
            try {
                DsseEnvelope statement = answer.getNow();
                shown.put(
                        talk,
                        new HandoverTarget(terms.identity().assignment().ticket(), 0, claimedVm(statement), nonce));
                talk.send(new VmMessage.Evidence(ByteString.copyFrom(statement.bytes()), clock.instant()));
                return;
            } catch (IOException | IllegalArgumentException e) {
                LOG.error("host: its statement is none: {}", e.getMessage());
            }
        } else {
            LOG.warn("host: no statement: {}", answer.cause().getMessage());
        }
        EvidenceMessage.RefusalReason why = answer.cause() instanceof EvidenceRefusedException refused
                ? refused.why()
                : EvidenceMessage.RefusalReason.FAILED;
        talk.send(new VmMessage.NoStatement(why));
        talk.finishOutput();
        if (why == EvidenceMessage.RefusalReason.ANOTHER && state.unlocked().isEmpty()) {
            ended.accept(
                    "the host has vouched for other keys of this VM, or in another circuit, and will not for these");
        }
    }

    private void unlock(OpenerSession talk, ProjectUnlock unlock) {
        HandoverTarget place = shown.get(talk);
        if (place == null) {
            state.reject();
            talk.finishOutput();
            return;
        }
        Optional<VerifiedUnlock> before = state.unlocked();
        try {
            long begin = System.nanoTime();
            VerifiedUnlock unlocked = UnlockVerification.verify(terms.identity(), place, unlock, random);
            talk.send(new VmMessage.PhaseCompleted(BootPhase.KEYS, since(begin)));
            if (before.isPresent()) {
                talk.send(again(before.get(), unlocked));
            } else {
                state.accept(unlocked, System.nanoTime());
                first(talk, unlocked);
            }
        } catch (UnlockRefused e) {
            LOG.error("opening refused: {}: {}", e.word(), e.getMessage());
            refuse(talk, before, new VmMessage.Failure(e.phase(), e.word()), e.word() + ": " + e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("opening failed", e);
            // The opener waits for a response, and a VM that is partly open must not continue with its keys.
            refuse(
                    talk,
                    Optional.empty(),
                    new VmMessage.Failure(BootPhase.DRIVE, UnlockRefusal.CONTROLLER.toString()),
                    e.toString());
        }
    }

    /**
     * Refuses an unlock. A VM that was opened before continues, whatever the reason for which a later unlock is
     * refused.
     */
    private void refuse(OpenerSession talk, Optional<VerifiedUnlock> before, VmMessage.Failure trouble, String why) {
        talk.send(trouble);
        talk.finishOutput();
        if (before.isEmpty()) {
            state.reject();
            state.complete(trouble);
            ended.accept("not opened: " + why);
        }
    }

    private void first(OpenerSession talk, VerifiedUnlock unlocked) throws UnlockRefused {
        long begin = System.nanoTime();
        VmMessage.Opened opened = opens.open(unlocked);
        talk.send(new VmMessage.PhaseCompleted(BootPhase.DRIVE, since(begin)));
        talk.send(opened);
        state.complete(opened);
    }

    private VmMessage again(VerifiedUnlock before, VerifiedUnlock unlocked) throws UnlockRefused {
        if (before.epoch() != unlocked.epoch()) {
            throw new UnlockRefused(
                    UnlockRefusal.OPENED,
                    "opening: want epoch " + before.epoch() + ", which is open, have " + unlocked.epoch());
        }
        return state.outcome().orElseThrow();
    }

    private static Duration since(long beginNs) {
        return Duration.ofNanos(System.nanoTime() - beginNs);
    }

    /** Returns the binding of a circuit; this end is the circuit's server. */
    private CircuitBinding binding(Circuit circuit) throws CertificateEncodingException {
        return CircuitBinding.of(
                terms.boot().chain().get(0).getEncoded(),
                circuit.peerCertificates().get(0).getEncoded());
    }

    /** Returns the VM's id in a statement. The opener verifies the signature: the VM does not know its host's key. */
    private static String claimedVm(DsseEnvelope statement) throws IOException {
        byte[] payload = StrictJson.read(statement.bytes(), EvidenceMessage.MAX_ENVELOPE, EvidenceMessage.MAX_ENVELOPE)
                .base64("payload", EvidenceStatement.MAX_BYTES);
        return EvidenceStatement.parse(payload).facts().vm();
    }
}
