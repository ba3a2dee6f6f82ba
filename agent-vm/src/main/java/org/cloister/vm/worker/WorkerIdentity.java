package org.cloister.vm.worker;

import com.google.protobuf.ByteString;
import io.netty.channel.ChannelHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateEncodingException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierMessageOrder;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.receipt.WorkerStatement;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.worker.steps.AcceptedHandover;
import org.jspecify.annotations.Nullable;

/**
 * Identity and accepted hand-over of a worker: used for its circuits, its evidence and its part of the receipt.
 * Thread-safe.
 */
final class WorkerIdentity implements AutoCloseable {
    /** Policy digest before the hand-over: the worker does not know a policy yet. */
    private static final Digest NO_POLICY = Digest.sha384("");

    private final VmAssignment assignment;
    private final BootKeyPairs keys;
    private final TrustStore trustStore;
    private final CertifiedPeerVerifier controllerVerifier;
    private final TlsCredential boot;
    private final HandoverVerifier handoverVerifier;
    private volatile String vm = "";
    private volatile @Nullable AcceptedHandover accepted;
    private volatile Optional<Instant> registered = Optional.empty();
    private volatile Instant shutdownTime = Instant.EPOCH;

    private WorkerIdentity(VmAssignment assignment, BootKeyPairs keys, TrustStore trustStore, TlsCredential boot) {
        this.assignment = assignment;
        this.keys = keys;
        this.trustStore = trustStore;
        this.controllerVerifier = CertifiedPeerVerifier.forRoles(trustStore, Set.of(CertificateRole.CONTROLLER));
        this.boot = boot;
        this.handoverVerifier = new HandoverVerifier(assignment, keys);
    }

    /** Creates the VM's only boot certificate: the host signs evidence for one only. */
    static WorkerIdentity create(
            VmAssignment assignment, BootKeyPairs keys, TrustStore trustStore, InstantSource clock, SecureRandom random)
            throws IOException {
        byte[] certificate = BootCertificate.make(
                assignment.name(),
                SubjectPublicKey.of(keys.publicKeys().signing()),
                CertificateSigner.of(keys.signing()),
                clock.instant(),
                random);
        return new WorkerIdentity(assignment, keys, trustStore, TlsCredential.of(keys.signing(), List.of(certificate)));
    }

    CertificateName name() {
        return assignment.name();
    }

    CertificateName controller() {
        return assignment.requester();
    }

    /**
     * Opens a circuit to the controlling VM.
     *
     * @param handler creates the circuit's handler, on its event loop
     */
    Future<Circuit> openCircuit(ClientLink link, boolean certified, Function<Circuit, ChannelHandler> handler) {
        Digest policy = certified ? acceptedHandover().policy() : NO_POLICY;
        return Circuit.open(
                link,
                new CircuitTerms(name(), controller(), policy),
                certified ? acceptedHandover().credential() : boot,
                controllerVerifier,
                (pipeline, circuit) -> pipeline.addLast(
                        new MessageFraming(ProtocolLimits.HAND_OVER_BYTES, VerifierMessage::read),
                        handler.apply(circuit)));
    }

    VerifierMessageOrder messageOrder(boolean certified) {
        return certified ? VerifierMessageOrder.forResume() : VerifierMessageOrder.forBoot(CertificateRole.WORKER);
    }

    /** Returns whether the peer is still trusted as it was when the circuit opened. */
    boolean isTrusted(Circuit circuit) {
        try {
            trustStore.require(circuit.peer());
            return true;
        } catch (IdentityRefusedException e) {
            return false;
        }
    }

    /**
     * Returns the claims for the host's evidence.
     *
     * @param circuit on which the boot certificate was shown
     */
    AttestationClaims claim(Circuit circuit, Nonce nonce) {
        try {
            return new AttestationClaims(
                    keys.publicKeys(),
                    nonce,
                    CircuitBinding.of(
                            circuit.peerCertificates().get(0).getEncoded(),
                            boot.chain().get(0).getEncoded()));
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate that was verified has no DER", e);
        }
    }

    /** Stores the VM's id from the statement; the controlling VM appraises whether it is true. */
    void recordEvidence(DsseEnvelope statement) throws IOException {
        vm = EvidenceStatement.claimed(statement).facts().vm();
    }

    void accept(HandoverDocument handover, Nonce nonce) throws HandoverRefused {
        accepted = handoverVerifier.accept(handover, vm, nonce);
    }

    AcceptedHandover acceptedHandover() {
        return Objects.requireNonNull(accepted, "a hand-over that was taken");
    }

    /**
     * Accepts a readmission; the worker presents its certificate from now on.
     *
     * @param nonce value with which the circuit was resumed
     */
    void accept(ReadmissionGrant readmission, Nonce nonce) throws HandoverRefused {
        AcceptedHandover previous = acceptedHandover();
        accepted = handoverVerifier.accept(readmission, previous, vm, nonce);
        if (readmission.mungeKey().isPresent()) {
            previous.close();
        }
    }

    /** Records the time of registration; only the first call counts. */
    void recordRegistration(Instant now) {
        if (registered.isEmpty()) {
            registered = Optional.of(now);
        }
    }

    void recordShutdown(Instant now) {
        shutdownTime = now;
    }

    /**
     * Signs the worker's part of the receipt.
     *
     * @return empty if nothing was handed over, or it cannot be signed
     */
    Optional<ByteString> signStatement(Optional<Instant> erased) {
        AcceptedHandover handover = accepted;
        if (handover == null) {
            return Optional.empty();
        }
        WorkerStatement statement = new WorkerStatement(
                name().project(),
                assignment.ticket(),
                handover.handOver().digest(),
                assignment.slot(),
                vm,
                registered,
                shutdownTime,
                erased);
        try {
            return Optional.of(ByteString.copyFrom(statement.sign(keys.signer()).bytes()));
        } catch (GeneralSecurityException | IOException e) {
            return Optional.empty();
        }
    }

    /** Zeroes all secrets. */
    @Override
    public void close() {
        AcceptedHandover handover = accepted;
        if (handover != null) {
            handover.close();
        }
        keys.close();
    }
}
