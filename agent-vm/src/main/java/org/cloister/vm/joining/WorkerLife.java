package org.cloister.vm.joining;

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
import org.cloister.protocol.Digest;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierTurns;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.receipt.WorkerPart;
import org.cloister.vm.boot.BootKeyPairs;
import org.jspecify.annotations.Nullable;

/** Who a worker is, and what it has been given: for its circuits, its evidence and its part of the receipt. Any thread may call. */
final class WorkerLife implements AutoCloseable {
    /** It judges by none before it was told of one. */
    private static final Digest NO_POLICY = Digest.sha384("");

    private final Assignment assignment;
    private final BootKeyPairs keys;
    private final Beliefs beliefs;
    private final Trust trust;
    private final Credential boot;
    private final Intake intake;
    private volatile String vm = "";
    private volatile @Nullable HandedOver given;
    private volatile Optional<Instant> registered = Optional.empty();
    private volatile Instant left = Instant.EPOCH;

    private WorkerLife(Assignment assignment, BootKeyPairs keys, Beliefs beliefs, Credential boot) {
        this.assignment = assignment;
        this.keys = keys;
        this.beliefs = beliefs;
        this.trust = Trust.in(beliefs, Set.of(Role.CONTROLLER));
        this.boot = boot;
        this.intake = new Intake(assignment, keys);
    }

    /** Makes the one boot certificate of this life: the host vouches for one. */
    static WorkerLife begin(
            Assignment assignment, BootKeyPairs keys, Beliefs beliefs, InstantSource clock, SecureRandom random)
            throws IOException {
        byte[] certificate = BootCertificate.make(
                assignment.name(),
                SubjectKey.of(keys.shown().signing()),
                Signer.of(keys.signing()),
                clock.instant(),
                random);
        return new WorkerLife(assignment, keys, beliefs, Credential.of(keys.signing(), List.of(certificate)));
    }

    Name name() {
        return assignment.name();
    }

    Name controller() {
        return assignment.requester();
    }

    /** @param talk made for the circuit, on its event loop */
    Future<Circuit> call(Link link, boolean certified, Function<Circuit, ChannelHandler> talk) {
        Digest policy = certified ? given().policy() : NO_POLICY;
        return Circuit.open(
                link,
                new CircuitTerms(name(), controller(), policy),
                certified ? given().own() : boot,
                trust,
                (pipeline, circuit) -> pipeline.addLast(
                        new Framing(LinkLimits.HAND_OVER_BYTES, VerifierMessage::read), talk.apply(circuit)));
    }

    VerifierTurns turns(boolean certified) {
        return certified ? VerifierTurns.resuming() : VerifierTurns.booting(Role.WORKER);
    }

    /** Whether who is at the other end still is who it was when the circuit opened. */
    boolean isBelieved(Circuit circuit) {
        try {
            beliefs.require(circuit.peer());
            return true;
        } catch (IdentityRefused e) {
            return false;
        }
    }

    /** @param circuit on which the boot certificate was shown */
    Claim claim(Circuit circuit, Nonce nonce) {
        try {
            return new Claim(
                    keys.shown(),
                    nonce,
                    CircuitBinding.of(
                            circuit.peerCertificates().get(0).getEncoded(),
                            boot.chain().get(0).getEncoded()));
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate that was verified has no DER", e);
        }
    }

    /** Says which life of which VM this is; whether it is true is the controlling VM's to judge. */
    void vouched(Envelope statement) throws IOException {
        vm = Statement.claimed(statement).facts().vm();
    }

    void take(HandOver handOver, Nonce nonce) throws HandOverRefused {
        given = intake.take(handOver, vm, nonce);
    }

    HandedOver given() {
        return Objects.requireNonNull(given, "a hand-over that was taken");
    }

    /**
     * From now on it is this that it shows.
     *
     * @param fresh that the circuit was resumed with
     */
    void take(Readmission readmission, Nonce fresh) throws HandOverRefused {
        HandedOver before = given();
        given = intake.take(readmission, before, vm, fresh);
        if (readmission.mungeKey().isPresent()) {
            before.close();
        }
    }

    /** The first time counts. */
    void registered(Instant now) {
        if (registered.isEmpty()) {
            registered = Optional.of(now);
        }
    }

    void leaves(Instant now) {
        left = now;
    }

    /** @return empty if nothing was handed over, or it cannot be signed */
    Optional<ByteString> part(Optional<Instant> erased) {
        HandedOver of = given;
        if (of == null) {
            return Optional.empty();
        }
        WorkerPart part = new WorkerPart(
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
        HandedOver of = given;
        if (of != null) {
            of.close();
        }
        keys.close();
    }
}
