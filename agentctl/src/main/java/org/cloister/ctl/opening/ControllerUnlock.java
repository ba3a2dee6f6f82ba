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
     * Inputs of the unlock: the opener's knowledge and the data for the VM.
     *
     * @param issuer certifies the VM's authority
     * @param members contents of the members file; empty if the members stay as they are
     * @param settings contents of the settings file; empty if the settings stay as they are
     * @param mtu MTU of the network between VMs
     * @param patience time from the opening's start until the VM's evidence, and then from the hand-over of its keys
     *     until its drive is open
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
            // A booting VM opens no connection, and the relay does not report when the VM listens.
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

    /** Verifies the relay's allocation of the host: its signature, and that it matches the opening. */
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
        // Revocation lists may arrive while the VM shows its evidence or the record is written.
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

    /**
     * Requires that the peer is the VM that was given the keys. Others can have the same name: the project's earlier
     * VMs, and any party that makes a boot certificate for it.
     */
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
        // One day longer than it may run, up to the longest lifetime of an authority.
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
