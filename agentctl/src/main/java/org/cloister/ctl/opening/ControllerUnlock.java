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
 * The boot conversation with a project's controlling VM, as its verifier: what it shows is held against the owners' policy and
 * the relay's allocation, and then it gets its authority and the key of its drive, once. Another circuit is opened when one
 * breaks, with the same question.
 */
final class ControllerUnlock {
    private static final long AGAIN_MS = 1000;
    private static final Duration CLOCKS = Duration.ofMinutes(2);
    private static final VerifierMessage.Denied DENIED_BEFORE =
            new VerifierMessage.Denied(List.of("spent"), "this opening's VM was given its keys before");

    private final Terms terms;
    private final Opening opening;
    private final OpenerRelaySession relay;
    private final Consumer<String> warn;
    private final SecureRandom random = new SecureRandom();
    private final Map<VerificationKey, Nonce> nonces = new HashMap<>();
    private Optional<AttestationResult.Accepted> given = Optional.empty();
    private long sinceNs = System.nanoTime();

    /**
     * What the opener knows and has.
     *
     * @param issuer certifies the VM's authority
     * @param members a file, empty if they stay as they are
     * @param settings the same
     * @param mtu of the network between VMs
     * @param patience from the opening's start to the VM's evidence, and from its keys on to its open drive
     */
    record Terms(
            ProjectHistory owners,
            TrustStore beliefs,
            OpeningSigner opener,
            CertificateIssuer issuer,
            SignedPolicy policy,
            DriveKeySealer drive,
            boolean create,
            Optional<ByteString> members,
            Optional<ByteString> settings,
            int mtu,
            UnlockRecordFile unlocks,
            Duration patience) {}

    /** What came of it. */
    sealed interface Outcome {
        /** @param accepted what the VM showed, and the level that holds */
        record Open(AttestationResult.Accepted accepted, VmMessage.Opened found) implements Outcome {}

        /** The VM got nothing. */
        record Denied(AttestationResult.Refused refused) implements Outcome {}

        /** The opening ended meanwhile. */
        record Ended(RelayTicketMessage.Update update) implements Outcome {}
    }

    /** @param warn for people: what is strange and denies nothing */
    ControllerUnlock(Terms terms, Opening opening, OpenerRelaySession relay, Consumer<String> warn) {
        this.terms = terms;
        this.opening = opening;
        this.relay = relay;
        this.warn = warn;
    }

    /** @throws IOException if the VM gives up or stays away, or the relay does */
    Outcome run() throws IOException, InterruptedException {
        while (true) {
            RelayTicketMessage.Update update = relay.queryState(opening.id());
            if (update.end().isPresent()) {
                return new Outcome.Ended(update);
            }
            try {
                ClientLink link = relay.link();
                Allocation allocation = allocation(update, link);
                try (ControllerBootSession talk = open(link)) {
                    return converse(talk, allocation);
                }
            } catch (ConnectionLostException e) {
                if (System.nanoTime() - sinceNs > terms.patience.toNanos()) {
                    throw new IOException(
                            "controlling VM of opening " + opening.id() + ": want an answer within "
                                    + terms.patience.toSeconds() + " s, have none (" + e.getMessage() + ")" + what()
                                    + "; agentctl project close " + opening.id() + " ends it",
                            e);
                }
            }
            // A VM that boots calls nobody, and the relay does not say when it listens.
            Thread.sleep(AGAIN_MS);
        }
    }

    private String what() {
        return given.isEmpty() ? "" : "; it was given its keys, and what became of its drive is not known";
    }

    private ControllerBootSession open(ClientLink link) throws ConnectionLostException, InterruptedException {
        CircuitTerms circuit = new CircuitTerms(terms.opener.name(), opening.controller(), terms.policy.hash());
        BootPeerVerifier trust = given.isEmpty()
                ? BootPeerVerifier.forBootingVm()
                : BootPeerVerifier.forBootingVmOr(CertifiedPeerVerifier.forCircuitEnds(terms.beliefs));
        return ControllerBootSession.open(link, circuit, terms.opener.credential(), trust);
    }

    /** The relay's word about which host, held against its signature and what was asked. */
    private Allocation allocation(RelayTicketMessage.Update update, ClientLink link) throws IOException {
        CertifiedIdentity signer =
                link.peer().orElseThrow(() -> new IOException("relay: its link has shown no certificate"));
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
                    + read.slots().get(0).address() + " on; look at the relay");
        }
        return read;
    }

    private Outcome converse(ControllerBootSession talk, Allocation allocation)
            throws ConnectionLostException, IOException, InterruptedException {
        if (given.isPresent()) {
            requireGiven(talk, given.get());
            if (talk.isBooting()) {
                talk.send(DENIED_BEFORE);
                throw new IOException("controlling VM of opening " + opening.id()
                        + ": it boots still, and what it was given is lost with its circuit; agentctl project close "
                        + opening.id() + ", and open it anew");
            }
            return opened(talk, given.get());
        }
        HostRevocationCheck host =
                new HostRevocationCheck(terms.beliefs, allocation.slots().get(0));
        boolean revoked = host.isRevoked();
        Nonce nonce = nonces.computeIfAbsent(talk.peerIdentity().key(), key -> Nonce.random(random));
        talk.send(new VerifierMessage.Question(nonce));
        VmMessage.Evidence shown = shown(talk);
        AttestationResult verdict = judge(talk, host.slot(), revoked, nonce, shown);
        if (verdict instanceof AttestationResult.Refused refused) {
            return denied(talk, refused);
        }
        AttestationResult.Accepted accepted = (AttestationResult.Accepted) verdict;
        ProjectUnlock unlock = unlock(accepted.statement(), allocation, nonce);
        terms.unlocks.recordUnlock(opening.id(), terms.policy.policy().serial());
        // Lists come while the VM shows itself, and writing takes its time.
        if (host.isRevoked()) {
            return denied(
                    talk,
                    new AttestationResult.Refused(
                            List.of(EvidenceVerifier.hostRevoked(host.slot().key()))));
        }
        given = Optional.of(accepted);
        sinceNs = System.nanoTime();
        talk.sendUnlock(unlock);
        return opened(talk, accepted);
    }

    /** A name is had by several: by the project's VMs before this one, and by whoever makes a boot certificate for it. */
    private static void requireGiven(ControllerBootSession talk, AttestationResult.Accepted accepted)
            throws ConnectionLostException {
        VerificationKey key = accepted.statement().claim().keys().signing();
        if (!talk.peerIdentity().key().equals(key)) {
            throw new ConnectionLostException(
                    "controlling VM: want the one that was given the drive's key, with key " + key.id()
                            + ", have one with key " + talk.peerIdentity().key().id());
        }
    }

    private static Outcome denied(ControllerBootSession talk, AttestationResult.Refused refused) {
        List<String> clauses = refused.failures().stream()
                .map(each -> each.clause().id())
                .distinct()
                .toList();
        talk.send(new VerifierMessage.Denied(clauses, "the opener was told why"));
        return new Outcome.Denied(refused);
    }

    private VmMessage.Evidence shown(ControllerBootSession talk)
            throws ConnectionLostException, IOException, InterruptedException {
        VmMessage answer = talk.receive(terms.patience);
        if (answer instanceof VmMessage.NoStatement none && none.reason() != EvidenceMessage.RefusalReason.ANOTHER) {
            throw new ConnectionLostException("its host does not vouch for it now: " + none.reason());
        }
        if (answer instanceof VmMessage.Evidence shown) {
            Duration apart = Duration.between(shown.clock(), Instant.now()).abs();
            if (apart.compareTo(CLOCKS) > 0) {
                warn.accept("the VM's clock, which is its host's, is " + apart.toSeconds() + " s from this one's");
            }
            return shown;
        }
        throw new IOException("controlling VM of opening " + opening.id() + ": "
                + (answer instanceof VmMessage.Failure trouble
                        ? "it gave up in phase " + trouble.phase() + ": " + trouble.code()
                        : "its host vouched for another life or question of it, and vouches once")
                + "; agentctl project close " + opening.id() + ", and open it anew");
    }

    private AttestationResult judge(
            ControllerBootSession talk, AllocatedSlot slot, boolean revoked, Nonce nonce, VmMessage.Evidence shown)
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
                        talk.peerIdentity().key(),
                        talk.binding(terms.opener.credential()),
                        true,
                        false,
                        terms.unlocks.isUnlocked(opening.id()),
                        terms.unlocks.countUnlocked(terms.policy.policy().serial())),
                DsseEnvelope.parse(shown.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                Instant.now());
    }

    private ProjectUnlock unlock(EvidenceStatement statement, Allocation allocation, Nonce nonce) throws IOException {
        Instant now = Instant.now();
        HandoverTarget place =
                new HandoverTarget(opening.id(), 0, statement.facts().vm(), nonce);
        List<ByteString> authorities = new ArrayList<>();
        // A day more than it may run, as far as authorities live.
        Duration wanted = Duration.ofMinutes(opening.minutes()).plusDays(1);
        Duration life = terms.issuer.limitLifetime(
                wanted.compareTo(CertificateAuthority.DELEGATED) < 0 ? wanted : CertificateAuthority.DELEGATED, now);
        authorities.add(ByteString.copyFrom(terms.issuer
                .authority()
                .certifyController(
                        opening.drive(),
                        SubjectPublicKey.of(statement.claim().keys().signing()),
                        now,
                        life)));
        terms.issuer.above().forEach(each -> authorities.add(ByteString.copyFrom(each)));
        byte[] sealed = terms.drive.sealTo(
                statement.claim().keys().sealing(), SealingContext.unlock(opening.project(), place, opening.epoch()));
        return new ProjectUnlock(
                place,
                authorities,
                terms.owners.envelopes().stream().map(ByteString::copyFrom).toList(),
                terms.policy.envelope(),
                List.copyOf(terms.beliefs.anchors().of(CertificateName.SITE)),
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

    private Outcome opened(ControllerBootSession talk, AttestationResult.Accepted accepted)
            throws ConnectionLostException, IOException, InterruptedException {
        VmMessage next = talk.receive(terms.patience);
        while (next instanceof VmMessage.PhaseCompleted) {
            next = talk.receive(terms.patience);
        }
        if (next instanceof VmMessage.Opened found && found.made() == terms.create) {
            return new Outcome.Open(accepted, found);
        }
        throw new IOException("controlling VM of opening " + opening.id() + ": "
                + (next instanceof VmMessage.Failure trouble
                        ? "it gave up in phase " + trouble.phase() + ": " + trouble.code()
                        : "want a drive that was " + (terms.create ? "made" : "found") + ", have another")
                + "; agentctl project close " + opening.id() + ", and open it anew");
    }
}
