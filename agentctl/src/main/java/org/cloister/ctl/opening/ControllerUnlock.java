package org.cloister.ctl.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.cloister.base.encoding.Digest;
import org.cloister.ctl.drive.DriveKeySealer;
import org.cloister.ctl.project.CertificateIssuer;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationResult;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.EvidenceVerifier;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.ReferenceValues;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMacAddress;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmNetworkConfig;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.transport.link.ClientLink;

/**
 * Runs the boot conversation with a project's controlling VM as its verifier: appraises the VM's evidence against the
 * owners' policy and the relay's allocation, and then gives it its authority and the key of its drive, once. If a
 * circuit breaks, it opens another one, and uses the same nonce for the same VM.
 */
final class ControllerUnlock {
    private static final long AGAIN_MS = 1000;
    private static final Duration CLOCKS = Duration.ofMinutes(2);
    private static final VerifierMessage.Denied DENIED_BEFORE =
            new VerifierMessage.Denied(List.of("spent"), "this opening's VM received its keys before");

    private final Terms terms;
    private final Opening opening;
    private final OpenerRelaySession relay;
    private final Consumer<String> warn;
    private final SecureRandom random = new SecureRandom();
    private final Map<VerificationKey, Nonce> nonces = new HashMap<>();
    private Optional<AttestationResult.Accepted> accepted = Optional.empty();
    private long sinceNs = System.nanoTime();

    /**
     * Inputs of the unlock: the opener's knowledge and the data for the VM.
     *
     * @param issuer certifies the VM's authority
     * @param members contents of the members file; empty if the members stay as they are
     * @param settings contents of the settings file; empty if the settings stay as they are
     * @param mtu MTU of the network between VMs
     * @param timeout time from the opening's start until the VM's evidence, and then from the hand-over of its keys
     *     until its drive is open
     */
    record Terms(
            ProjectHistory owners,
            TrustStore trustStore,
            OpeningSigner opener,
            CertificateIssuer issuer,
            SignedPolicy policy,
            DriveKeySealer drive,
            boolean create,
            Optional<ByteString> members,
            Optional<ByteString> settings,
            int mtu,
            UnlockRecordFile unlocks,
            Duration timeout) {}

    /** Result of the unlock. */
    sealed interface Outcome {
        /**
         * The VM was unlocked and its drive is open.
         *
         * @param accepted the VM's evidence and the assurance level
         */
        record Open(AttestationResult.Accepted accepted, VmMessage.Opened found) implements Outcome {}

        /** The VM was denied and got nothing. */
        record Denied(AttestationResult.Refused refused) implements Outcome {}

        /** The opening ended meanwhile. */
        record Ended(RelayTicketMessage.Update update) implements Outcome {}
    }

    /** @param warn receives warnings for people about oddities that deny nothing */
    ControllerUnlock(Terms terms, Opening opening, OpenerRelaySession relay, Consumer<String> warn) {
        this.terms = terms;
        this.opening = opening;
        this.relay = relay;
        this.warn = warn;
    }

    /**
     * Unlocks the VM, with as many circuits as that needs.
     *
     * @throws IOException if the VM gives up or does not answer in time, or the relay does not answer
     */
    Outcome run() throws IOException, InterruptedException {
        while (true) {
            RelayTicketMessage.Update update = relay.queryState(opening.id());
            if (update.end().isPresent()) {
                return new Outcome.Ended(update);
            }
            try {
                ClientLink link = relay.link();
                Allocation allocation = allocation(update, link);
                try (ControllerBootSession session = open(link)) {
                    return converse(session, allocation);
                }
            } catch (ConnectionLostException e) {
                if (System.nanoTime() - sinceNs > terms.timeout.toNanos()) {
                    throw new IOException(
                            "controlling VM of opening " + opening.id() + ": no answer within "
                                    + terms.timeout.toSeconds() + " s (" + e.getMessage() + ")" + what()
                                    + "; agentctl project close " + opening.id() + " ends it",
                            e);
                }
            }
            // A booting VM opens no connection, and the relay does not report when the VM listens.
            Thread.sleep(AGAIN_MS);
        }
    }

    private String what() {
        return accepted.isEmpty() ? "" : "; the VM received its keys, and the state of its drive is not known";
    }

    private ControllerBootSession open(ClientLink link) throws ConnectionLostException, InterruptedException {
        CircuitTerms circuit = new CircuitTerms(terms.opener.name(), opening.controller(), terms.policy.hash());
        BootPeerVerifier trust = accepted.isEmpty()
                ? BootPeerVerifier.forBootingVm()
                : BootPeerVerifier.forBootingVmOr(CertifiedPeerVerifier.forCircuitEnds(terms.trustStore));
        return ControllerBootSession.open(link, circuit, terms.opener.credential(), trust);
    }

    /** Verifies the relay's allocation of the host: its signature, and that it matches the opening. */
    private Allocation allocation(RelayTicketMessage.Update update, ClientLink link) throws IOException {
        CertifiedIdentity signer =
                link.peer().orElseThrow(() -> new IOException("relay: it has presented no certificate"));
        Allocation read = AllocationVerifier.read(update.allocation().toByteArray(), signer);
        Digest digest = Digest.sha256(opening.payload());
        if (!read.ticket().equals(opening.id())
                || !read.project().equals(opening.project())
                || !read.digest().equals(digest)
                || read.slots().size() != 1
                || !read.slots().get(0).address().equals(read.network().controller())) {
            throw new IOException("allocation: want that of opening " + opening.id() + ", " + digest
                    + ", with one slot of the network's first address, have that of " + read.ticket() + ", "
                    + read.digest() + ", with " + read.slots().size() + " from "
                    + read.slots().get(0).address() + " on; ask the relay's administrators");
        }
        return read;
    }

    private Outcome converse(ControllerBootSession session, Allocation allocation)
            throws ConnectionLostException, IOException, InterruptedException {
        if (this.accepted.isPresent()) {
            requireGiven(session, this.accepted.get());
            if (session.isBooting()) {
                session.send(DENIED_BEFORE);
                throw new IOException("controlling VM of opening " + opening.id()
                        + ": it is still booting, and the keys that it received are lost with its circuit; "
                        + "agentctl project close " + opening.id() + ", then open the project again");
            }
            return opened(session, this.accepted.get());
        }
        HostRevocationCheck host =
                new HostRevocationCheck(terms.trustStore, allocation.slots().get(0));
        boolean revoked = host.isRevoked();
        Nonce nonce = nonces.computeIfAbsent(session.peerIdentity().key(), key -> Nonce.random(random));
        session.send(new VerifierMessage.Question(nonce));
        VmMessage.Evidence evidence = shown(session);
        AttestationResult verdict = appraise(session, host.slot(), revoked, nonce, evidence);
        if (verdict instanceof AttestationResult.Refused refused) {
            return denied(session, refused);
        }
        AttestationResult.Accepted accepted = (AttestationResult.Accepted) verdict;
        ProjectUnlock unlock = unlock(accepted.statement(), allocation, nonce);
        terms.unlocks.recordUnlock(opening.id(), terms.policy.policy().serial());
        // Revocation lists may arrive while the VM shows its evidence or the record is written.
        if (host.isRevoked()) {
            return denied(
                    session,
                    new AttestationResult.Refused(
                            List.of(EvidenceVerifier.hostRevoked(host.slot().key()))));
        }
        this.accepted = Optional.of(accepted);
        sinceNs = System.nanoTime();
        session.sendUnlock(unlock);
        return opened(session, accepted);
    }

    /**
     * Requires that the peer is the VM that was given the keys. Others can have the same name: the project's earlier
     * VMs, and any party that makes a boot certificate for it.
     */
    private static void requireGiven(ControllerBootSession session, AttestationResult.Accepted accepted)
            throws ConnectionLostException {
        VerificationKey key = accepted.statement().claim().keys().signing();
        if (!session.peerIdentity().key().equals(key)) {
            throw new ConnectionLostException("controlling VM: want the one that received the drive key, with key "
                    + key.id() + ", have one with key "
                    + session.peerIdentity().key().id());
        }
    }

    private static Outcome denied(ControllerBootSession session, AttestationResult.Refused refused) {
        List<String> clauses = refused.failures().stream()
                .map(each -> each.clause().id())
                .distinct()
                .toList();
        session.send(new VerifierMessage.Denied(clauses, "the opener's device has the reasons"));
        return new Outcome.Denied(refused);
    }

    private VmMessage.Evidence shown(ControllerBootSession session)
            throws ConnectionLostException, IOException, InterruptedException {
        VmMessage answer = session.receive(terms.timeout);
        if (answer instanceof VmMessage.NoStatement none && none.reason() != EvidenceMessage.RefusalReason.ANOTHER) {
            throw new ConnectionLostException("its host signs no evidence for it now: " + none.reason());
        }
        if (answer instanceof VmMessage.Evidence evidence) {
            Duration apart = Duration.between(evidence.clock(), Instant.now()).abs();
            if (apart.compareTo(CLOCKS) > 0) {
                warn.accept("the VM's clock, which its host sets, differs from this device's by " + apart.toSeconds()
                        + " s");
            }
            return evidence;
        }
        throw new IOException("controlling VM of opening " + opening.id() + ": "
                + (answer instanceof VmMessage.Failure failure
                        ? "it failed in phase " + failure.phase() + ": " + failure.code()
                        : "its host has signed evidence for another boot or nonce, and signs only once")
                + "; agentctl project close " + opening.id() + ", then open the project again");
    }

    private AttestationResult appraise(
            ControllerBootSession session,
            AllocatedSlot slot,
            boolean revoked,
            Nonce nonce,
            VmMessage.Evidence evidence)
            throws IOException {
        return EvidenceVerifier.appraise(
                terms.policy.policy(),
                new ReferenceValues(
                        VmRole.CONTROLLER,
                        opening.id(),
                        slot.slot(),
                        slot.key(),
                        revoked,
                        nonce,
                        session.peerIdentity().key(),
                        session.binding(terms.opener.credential()),
                        true,
                        false,
                        terms.unlocks.isUnlocked(opening.id()),
                        terms.unlocks.countUnlocked(terms.policy.policy().serial())),
                DsseEnvelope.parse(evidence.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                Instant.now());
    }

    private ProjectUnlock unlock(EvidenceStatement statement, Allocation allocation, Nonce nonce) throws IOException {
        Instant now = Instant.now();
        HandoverTarget target =
                new HandoverTarget(opening.id(), 0, statement.facts().vm(), nonce);
        List<ByteString> authorities = new ArrayList<>();
        // One day longer than it may run, up to the longest lifetime of an authority.
        Duration openLifetime = Duration.ofMinutes(opening.minutes()).plusDays(1);
        Duration lifetime = terms.issuer.limitLifetime(
                openLifetime.compareTo(CertificateAuthority.DELEGATED) < 0
                        ? openLifetime
                        : CertificateAuthority.DELEGATED,
                now);
        authorities.add(ByteString.copyFrom(terms.issuer
                .authority()
                .certifyController(
                        opening.drive(),
                        SubjectPublicKey.of(statement.claim().keys().signing()),
                        now,
                        lifetime)));
        terms.issuer.above().forEach(each -> authorities.add(ByteString.copyFrom(each)));
        byte[] sealed = terms.drive.sealTo(
                statement.claim().keys().sealing(), SealingContext.unlock(opening.project(), target, opening.epoch()));
        return new ProjectUnlock(
                target,
                authorities,
                terms.owners.envelopes().stream().map(ByteString::copyFrom).toList(),
                terms.policy.envelope(),
                List.copyOf(terms.trustStore.anchors().of(CertificateName.SITE)),
                opening.epoch(),
                SealedSecret.drive(ByteString.copyFrom(sealed)),
                terms.create,
                now,
                new VmNetworkConfig(
                        allocation.network(),
                        allocation.network().controller(),
                        terms.mtu,
                        VmMacAddress.of(allocation.network().controller())),
                terms.members,
                terms.settings);
    }

    private Outcome opened(ControllerBootSession session, AttestationResult.Accepted accepted)
            throws ConnectionLostException, IOException, InterruptedException {
        VmMessage next = session.receive(terms.timeout);
        while (next instanceof VmMessage.PhaseCompleted) {
            next = session.receive(terms.timeout);
        }
        if (next instanceof VmMessage.Opened found && found.made() == terms.create) {
            found.lastEnd().ifPresent(end -> {
                warn.accept("the last time this drive was open, its VM ended itself at " + end.time() + ": "
                        + end.reason());
                // The VM keeps the report until it receives this.
                session.send(new VerifierMessage.Acknowledgement());
            });
            return new Outcome.Open(accepted, found);
        }
        throw new IOException("controlling VM of opening " + opening.id() + ": "
                + (next instanceof VmMessage.Failure failure
                        ? "it failed in phase " + failure.phase() + ": " + failure.code()
                        : "want a drive that was " + (terms.create ? "made" : "found") + ", have another")
                + "; agentctl project close " + opening.id() + ", then open the project again");
    }
}
