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

    private final Context context;
    private final AttestationRequest attestation;
    private final ProjectOpening opening;
    private final Executor work;
    private final InstantSource clock;
    private final Consumer<String> onFailed;
    private final Runnable onAcknowledged;
    private final SecureRandom random = new SecureRandom();
    /** Targets of the evidence shown, by open circuit. Used on the work thread only. */
    private final Map<OpenerSession, HandoverTarget> targets = new HashMap<>();

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
        Future<DsseEnvelope> send(AttestationClaims claims);
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
     * @param onFailed called with the reason, once or more, if this VM can never be opened
     * @param onAcknowledged called on the work thread, once or more, when the opener has shown the last end
     */
    public UnlockServer(
            Context context,
            AttestationRequest attestation,
            ProjectOpening opening,
            Executor work,
            InstantSource clock,
            Consumer<String> onFailed,
            Runnable onAcknowledged) {
        this.context = context;
        this.attestation = attestation;
        this.opening = opening;
        this.work = work;
        this.clock = clock;
        this.onFailed = onFailed;
        this.onAcknowledged = onAcknowledged;
        this.state = new UnlockState(context);
    }

    /** Accepts a connection that does not claim to be a worker. Called on the link's event loop. */
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        if (!dial.from().equals(context.identity().assignment().requester())
                || !dial.to().equals(context.identity().assignment().name())) {
            LOG.warn("{}: not the opener of this VM", dial.from());
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        if (!state.whenDecided(() -> openCircuit(attachment, dial))) {
            attachment.refuse(dial, CloseReason.LIMIT);
        }
    }

    private void openCircuit(AgentAttachStream attachment, RelayMessage.Dial dial) {
        Optional<TlsCredential> credential;
        try {
            credential = state.credential(System.nanoTime());
        } catch (IOException e) {
            LOG.warn("opener {}: no circuit: {}", dial.from(), e.getMessage());
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        Circuit.dialBack(
                        attachment.link(),
                        dial,
                        credential.orElse(context.boot()),
                        context.openers(),
                        credential.isPresent() ? this::startLaterSession : this::startSession)
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
        OpenerSession session = OpenerSession.booting(circuit, this::onMessage);
        install(pipeline, session);
        circuit.channel().closeFuture().addListener(closed -> work.execute(() -> targets.remove(session)));
    }

    private void startLaterSession(ChannelPipeline pipeline, Circuit circuit) {
        OpenerSession session = OpenerSession.unlocked(circuit, this::onMessage);
        install(pipeline, session);
        circuit.channel().closeFuture().addListener(closed -> state.remove(session));
        state.sendOutcome(session);
    }

    private static void install(ChannelPipeline pipeline, OpenerSession session) {
        pipeline.addLast(new MessageFraming(ProtocolLimits.UNLOCK_BYTES, VerifierMessage::read), session);
    }

    private void onMessage(OpenerSession session, VerifierMessage message) {
        if (message instanceof VerifierMessage.Question question) {
            onNonce(session, question.nonce());
        } else if (message instanceof ProjectUnlock unlock) {
            state.startDecision();
            work.execute(() -> unlock(session, unlock));
        } else if (message instanceof VerifierMessage.Acknowledgement) {
            work.execute(onAcknowledged);
        } else if (message instanceof VerifierMessage.Denied denied) {
            LOG.warn("the opener refused this VM: {}: {}", denied.clauses(), denied.text());
            session.finishOutput();
        }
    }

    private void onNonce(OpenerSession session, Nonce nonce) {
        AttestationClaims claims;
        try {
            claims = new AttestationClaims(context.keys(), nonce, binding(session.circuit()));
        } catch (CertificateEncodingException e) {
            LOG.error("opener: a certificate has no DER", e);
            session.finishOutput();
            return;
        }
        attestation
                .send(claims)
                .addListener(
                        (Future<DsseEnvelope> response) -> work.execute(() -> onEvidence(session, nonce, response)));
    }

    private void onEvidence(OpenerSession session, Nonce nonce, Future<DsseEnvelope> response) {
        if (response.isSuccess()) {
            try {
                DsseEnvelope statement = response.getNow();
                // The opener verifies the signature: the VM does not know its host's key.
                String vm = EvidenceStatement.claimed(statement).facts().vm();
                targets.put(
                        session,
                        new HandoverTarget(context.identity().assignment().ticket(), 0, vm, nonce));
                session.send(new VmMessage.Evidence(ByteString.copyFrom(statement.bytes()), clock.instant()));
                return;
            } catch (IOException | IllegalArgumentException e) {
                LOG.error("host: its evidence statement is malformed: {}", e.getMessage());
            }
        } else {
            LOG.warn("host: it signed no evidence: {}", response.cause().getMessage());
        }
        EvidenceMessage.RefusalReason reason = response.cause() instanceof EvidenceRefusedException refused
                ? refused.why()
                : EvidenceMessage.RefusalReason.FAILED;
        session.send(new VmMessage.NoStatement(reason));
        session.finishOutput();
        if (reason == EvidenceMessage.RefusalReason.ANOTHER && state.unlocked().isEmpty()) {
            onFailed.accept("the host has signed evidence for other keys of this VM, or for another circuit,"
                    + " and signs no other");
        }
    }

    private void unlock(OpenerSession session, ProjectUnlock unlock) {
        HandoverTarget target = targets.get(session);
        if (target == null) {
            state.reject();
            session.finishOutput();
            return;
        }
        Optional<VerifiedUnlock> previous = state.unlocked();
        try {
            long begin = System.nanoTime();
            VerifiedUnlock unlocked = UnlockVerification.verify(context.identity(), target, unlock, random);
            session.send(new VmMessage.PhaseCompleted(BootPhase.KEYS, elapsedSince(begin)));
            if (previous.isPresent()) {
                session.send(repeatOutcome(previous.get(), unlocked));
            } else {
                state.accept(unlocked, System.nanoTime());
                openProject(session, unlocked);
            }
        } catch (UnlockRefused e) {
            LOG.error("opening refused: {}: {}", e.word(), e.getMessage());
            refuse(session, previous, new VmMessage.Failure(e.phase(), e.word()), e.word() + ": " + e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("opening failed", e);
            // The opener waits for a response, and a VM that is partly open must not continue with its keys.
            refuse(
                    session,
                    Optional.empty(),
                    new VmMessage.Failure(BootPhase.DRIVE, UnlockRefusal.CONTROLLER.toString()),
                    e.toString());
        }
    }

    /**
     * Refuses an unlock. A VM that was opened before continues, whatever the reason for which a later unlock is
     * refused.
     */
    private void refuse(
            OpenerSession session, Optional<VerifiedUnlock> previous, VmMessage.Failure failure, String reason) {
        session.send(failure);
        session.finishOutput();
        if (previous.isEmpty()) {
            state.reject();
            state.complete(failure);
            onFailed.accept("not opened: " + reason);
        }
    }

    private void openProject(OpenerSession session, VerifiedUnlock unlocked) throws UnlockRefused {
        long begin = System.nanoTime();
        VmMessage.Opened opened = opening.open(unlocked);
        session.send(new VmMessage.PhaseCompleted(BootPhase.DRIVE, elapsedSince(begin)));
        session.send(opened);
        state.complete(opened);
    }

    private VmMessage repeatOutcome(VerifiedUnlock previous, VerifiedUnlock unlocked) throws UnlockRefused {
        if (previous.epoch() != unlocked.epoch()) {
            throw new UnlockRefused(
                    UnlockRefusal.OPENED,
                    "opening: want epoch " + previous.epoch() + ", which is open, have " + unlocked.epoch());
        }
        return state.outcome().orElseThrow();
    }

    private static Duration elapsedSince(long beginNs) {
        return Duration.ofNanos(System.nanoTime() - beginNs);
    }

    /** Returns the binding of a circuit; this end is the circuit's server. */
    private CircuitBinding binding(Circuit circuit) throws CertificateEncodingException {
        return CircuitBinding.of(
                context.boot().chain().get(0).getEncoded(),
                circuit.peerCertificates().get(0).getEncoded());
    }
}
