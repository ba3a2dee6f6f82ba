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

/** Who a worker is, and what it has been given: for its circuits, its evidence and its part of the receipt. Any thread may call. */
final class WorkerIdentity implements AutoCloseable {
    /** It judges by none before it was told of one. */
    private static final Digest NO_POLICY = Digest.sha384("");

    private final VmAssignment assignment;
    private final BootKeyPairs keys;
    private final TrustStore beliefs;
    private final CertifiedPeerVerifier trust;
    private final TlsCredential boot;
    private final HandoverVerifier intake;
    private volatile String vm = "";
    private volatile @Nullable AcceptedHandover given;
    private volatile Optional<Instant> registered = Optional.empty();
    private volatile Instant left = Instant.EPOCH;

    private WorkerIdentity(VmAssignment assignment, BootKeyPairs keys, TrustStore beliefs, TlsCredential boot) {
        this.assignment = assignment;
        this.keys = keys;
        this.beliefs = beliefs;
        this.trust = CertifiedPeerVerifier.forRoles(beliefs, Set.of(CertificateRole.CONTROLLER));
        this.boot = boot;
        this.intake = new HandoverVerifier(assignment, keys);
    }

    /** Makes the one boot certificate of this life: the host vouches for one. */
    static WorkerIdentity create(
            VmAssignment assignment, BootKeyPairs keys, TrustStore beliefs, InstantSource clock, SecureRandom random)
            throws IOException {
        byte[] certificate = BootCertificate.make(
                assignment.name(),
                SubjectPublicKey.of(keys.publicKeys().signing()),
                CertificateSigner.of(keys.signing()),
                clock.instant(),
                random);
        return new WorkerIdentity(assignment, keys, beliefs, TlsCredential.of(keys.signing(), List.of(certificate)));
    }

    CertificateName name() {
        return assignment.name();
    }

    CertificateName controller() {
        return assignment.requester();
    }

    /** @param talk made for the circuit, on its event loop */
    Future<Circuit> openCircuit(ClientLink link, boolean certified, Function<Circuit, ChannelHandler> talk) {
        Digest policy = certified ? acceptedHandover().policy() : NO_POLICY;
        return Circuit.open(
                link,
                new CircuitTerms(name(), controller(), policy),
                certified ? acceptedHandover().credential() : boot,
                trust,
                (pipeline, circuit) -> pipeline.addLast(
                        new MessageFraming(ProtocolLimits.HAND_OVER_BYTES, VerifierMessage::read),
                        talk.apply(circuit)));
    }

    VerifierMessageOrder messageOrder(boolean certified) {
        return certified ? VerifierMessageOrder.forResume() : VerifierMessageOrder.forBoot(CertificateRole.WORKER);
    }

    /** Whether who is at the other end still is who it was when the circuit opened. */
    boolean isTrusted(Circuit circuit) {
        try {
            beliefs.require(circuit.peer());
            return true;
        } catch (IdentityRefusedException e) {
            return false;
        }
    }

    /** @param circuit on which the boot certificate was shown */
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

    /** Says which life of which VM this is; whether it is true is the controlling VM's to judge. */
    void recordEvidence(DsseEnvelope statement) throws IOException {
        vm = EvidenceStatement.claimed(statement).facts().vm();
    }

    void accept(HandoverDocument handOver, Nonce nonce) throws HandoverRefused {
        given = intake.accept(handOver, vm, nonce);
    }

    AcceptedHandover acceptedHandover() {
        return Objects.requireNonNull(given, "a hand-over that was taken");
    }

    /**
     * From now on it is this that it shows.
     *
     * @param fresh that the circuit was resumed with
     */
    void accept(ReadmissionGrant readmission, Nonce fresh) throws HandoverRefused {
        AcceptedHandover before = acceptedHandover();
        given = intake.accept(readmission, before, vm, fresh);
        if (readmission.mungeKey().isPresent()) {
            before.close();
        }
    }

    /** The first time counts. */
    void recordRegistration(Instant now) {
        if (registered.isEmpty()) {
            registered = Optional.of(now);
        }
    }

    void recordShutdown(Instant now) {
        left = now;
    }

    /** @return empty if nothing was handed over, or it cannot be signed */
    Optional<ByteString> signStatement(Optional<Instant> erased) {
        AcceptedHandover of = given;
        if (of == null) {
            return Optional.empty();
        }
        WorkerStatement part = new WorkerStatement(
                name().project(),
                assignment.ticket(),
                of.handOver().digest(),
                assignment.slot(),
                vm,
                registered,
                left,
                erased);
        try {
            return Optional.of(ByteString.copyFrom(part.sign(keys.signer()).bytes()));
        } catch (GeneralSecurityException | IOException e) {
            return Optional.empty();
        }
    }

    /** What is secret of it is zeroed. */
    @Override
    public void close() {
        AcceptedHandover of = given;
        if (of != null) {
            of.close();
        }
        keys.close();
    }
}
