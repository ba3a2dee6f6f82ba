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
import org.cloister.ctl.drive.DriveLock;
import org.cloister.ctl.project.Issuer;
import org.cloister.protocol.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Expectation;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.Verdict;
import org.cloister.protocol.evidence.Verifier;
import org.cloister.protocol.handover.Mac;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.Station;
import org.cloister.protocol.handover.Unlock;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.BootTrust;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.Slot;

/**
 * The boot conversation with a project's controlling VM, as its verifier: what it shows is held against the owners' policy and
 * the relay's allocation, and then it gets its authority and the key of its drive, once. Another circuit is opened when one
 * breaks, with the same question.
 */
final class Unlocking {
    private static final long AGAIN_MS = 1000;
    private static final Duration CLOCKS = Duration.ofMinutes(2);
    private static final VerifierMessage.Denied DENIED_BEFORE =
            new VerifierMessage.Denied(List.of("spent"), "this opening's VM was given its keys before");

    private final Terms terms;
    private final Opening opening;
    private final Talk relay;
    private final Consumer<String> warn;
    private final SecureRandom random = new SecureRandom();
    private final Map<VerificationKey, Nonce> nonces = new HashMap<>();
    private Optional<Verdict.Accepted> given = Optional.empty();
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
            Beliefs beliefs,
            Opener opener,
            Issuer issuer,
            SignedPolicy policy,
            DriveLock drive,
            boolean create,
            Optional<ByteString> members,
            Optional<ByteString> settings,
            int mtu,
            UnlockBook book,
            Duration patience) {}

    /** What came of it. */
    sealed interface Outcome {
        /** @param accepted what the VM showed, and the level that holds */
        record Open(Verdict.Accepted accepted, VmMessage.Opened found) implements Outcome {}

        /** The VM got nothing. */
        record Denied(Verdict.Refused refused) implements Outcome {}

        /** The opening ended meanwhile. */
        record Ended(OfficeMessage.Update update) implements Outcome {}
    }

    /** @param warn for people: what is strange and denies nothing */
    Unlocking(Terms terms, Opening opening, Talk relay, Consumer<String> warn) {
        this.terms = terms;
        this.opening = opening;
        this.relay = relay;
        this.warn = warn;
    }

    /** @throws IOException if the VM gives up or stays away, or the relay does */
    Outcome run() throws IOException, InterruptedException {
        while (true) {
            OfficeMessage.Update update = relay.look(opening.id());
            if (update.end().isPresent()) {
                return new Outcome.Ended(update);
            }
            try {
                Link link = relay.link();
                Allocation allocation = allocation(update, link);
                try (BootTalk talk = open(link)) {
                    return converse(talk, allocation);
                }
            } catch (LostException e) {
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

    private BootTalk open(Link link) throws LostException, InterruptedException {
        CircuitTerms circuit = new CircuitTerms(terms.opener.name(), opening.controller(), terms.policy.hash());
        BootTrust trust = given.isEmpty() ? BootTrust.booting() : BootTrust.bootingOr(Trust.inParties(terms.beliefs));
        return BootTalk.open(link, circuit, terms.opener.credential(), trust);
    }

    /** The relay's word about which host, held against its signature and what was asked. */
    private Allocation allocation(OfficeMessage.Update update, Link link) throws IOException {
        Identity signer = link.peer().orElseThrow(() -> new IOException("relay: its link has shown no certificate"));
        Allocation read = ClaimCheck.read(update.allocation().toByteArray(), signer);
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

    private Outcome converse(BootTalk talk, Allocation allocation)
            throws LostException, IOException, InterruptedException {
        if (given.isPresent()) {
            requireGiven(talk, given.get());
            if (talk.boots()) {
                talk.say(DENIED_BEFORE);
                throw new IOException("controlling VM of opening " + opening.id()
                        + ": it boots still, and what it was given is lost with its circuit; agentctl project close "
                        + opening.id() + ", and open it anew");
            }
            return opened(talk, given.get());
        }
        SlotHost host = new SlotHost(terms.beliefs, allocation.slots().get(0));
        boolean revoked = host.isRevoked();
        Nonce nonce = nonces.computeIfAbsent(talk.shown().key(), key -> Nonce.random(random));
        talk.say(new VerifierMessage.Question(nonce));
        VmMessage.Shown shown = shown(talk);
        Verdict verdict = judge(talk, host.slot(), revoked, nonce, shown);
        if (verdict instanceof Verdict.Refused refused) {
            return denied(talk, refused);
        }
        Verdict.Accepted accepted = (Verdict.Accepted) verdict;
        Unlock unlock = unlock(accepted.statement(), allocation, nonce);
        terms.book.spend(opening.id(), terms.policy.policy().serial());
        // Lists come while the VM shows itself, and writing takes its time.
        if (host.isRevoked()) {
            return denied(
                    talk,
                    new Verdict.Refused(List.of(Verifier.hostRevoked(host.slot().key()))));
        }
        given = Optional.of(accepted);
        sinceNs = System.nanoTime();
        talk.give(unlock);
        return opened(talk, accepted);
    }

    /** A name is had by several: by the project's VMs before this one, and by whoever makes a boot certificate for it. */
    private static void requireGiven(BootTalk talk, Verdict.Accepted accepted) throws LostException {
        VerificationKey key = accepted.statement().claim().keys().signing();
        if (!talk.shown().key().equals(key)) {
            throw new LostException("controlling VM: want the one that was given the drive's key, with key " + key.id()
                    + ", have one with key " + talk.shown().key().id());
        }
    }

    private static Outcome denied(BootTalk talk, Verdict.Refused refused) {
        List<String> clauses = refused.failures().stream()
                .map(each -> each.clause().id())
                .distinct()
                .toList();
        talk.say(new VerifierMessage.Denied(clauses, "the opener was told why"));
        return new Outcome.Denied(refused);
    }

    private VmMessage.Shown shown(BootTalk talk) throws LostException, IOException, InterruptedException {
        VmMessage answer = talk.hear(terms.patience);
        if (answer instanceof VmMessage.NoStatement none && none.why() != EvidenceMessage.Why.ANOTHER) {
            throw new LostException("its host does not vouch for it now: " + none.why());
        }
        if (answer instanceof VmMessage.Shown shown) {
            Duration apart = Duration.between(shown.clock(), Instant.now()).abs();
            if (apart.compareTo(CLOCKS) > 0) {
                warn.accept("the VM's clock, which is its host's, is " + apart.toSeconds() + " s from this one's");
            }
            return shown;
        }
        throw new IOException("controlling VM of opening " + opening.id() + ": "
                + (answer instanceof VmMessage.Trouble trouble
                        ? "it gave up in phase " + trouble.phase() + ": " + trouble.code()
                        : "its host vouched for another life or question of it, and vouches once")
                + "; agentctl project close " + opening.id() + ", and open it anew");
    }

    private Verdict judge(BootTalk talk, Slot slot, boolean revoked, Nonce nonce, VmMessage.Shown shown)
            throws IOException {
        return Verifier.decide(
                terms.policy.policy(),
                new Expectation(
                        VmRole.CONTROLLER,
                        opening.id(),
                        slot.slot(),
                        slot.key(),
                        revoked,
                        nonce,
                        talk.shown().key(),
                        talk.binding(terms.opener.credential()),
                        true,
                        false,
                        terms.book.isSpent(opening.id()),
                        terms.book.released(terms.policy.policy().serial())),
                Envelope.parse(shown.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                Instant.now());
    }

    private Unlock unlock(Statement statement, Allocation allocation, Nonce nonce) throws IOException {
        Instant now = Instant.now();
        Place place = new Place(opening.id(), 0, statement.facts().vm(), nonce);
        List<ByteString> authorities = new ArrayList<>();
        // A day more than it may run, as far as authorities live.
        Duration wanted = Duration.ofMinutes(opening.minutes()).plusDays(1);
        Duration life =
                terms.issuer.life(wanted.compareTo(Authority.DELEGATED) < 0 ? wanted : Authority.DELEGATED, now);
        authorities.add(ByteString.copyFrom(terms.issuer
                .authority()
                .certifyController(
                        opening.drive(), SubjectKey.of(statement.claim().keys().signing()), now, life)));
        terms.issuer.above().forEach(each -> authorities.add(ByteString.copyFrom(each)));
        byte[] sealed = terms.drive.sealTo(
                statement.claim().keys().sealing(), SealingContext.unlock(opening.project(), place, opening.epoch()));
        return new Unlock(
                place,
                authorities,
                terms.owners.envelopes().stream().map(ByteString::copyFrom).toList(),
                terms.policy.envelope(),
                List.copyOf(terms.beliefs.anchors().of(Name.SITE)),
                opening.epoch(),
                SealedSecret.drive(ByteString.copyFrom(sealed)),
                terms.create,
                now,
                new Station(
                        allocation.network(),
                        allocation.network().controller(),
                        terms.mtu,
                        Mac.of(allocation.network().controller())),
                terms.members,
                terms.settings);
    }

    private Outcome opened(BootTalk talk, Verdict.Accepted accepted)
            throws LostException, IOException, InterruptedException {
        VmMessage next = talk.hear(terms.patience);
        while (next instanceof VmMessage.Passed) {
            next = talk.hear(terms.patience);
        }
        if (next instanceof VmMessage.Opened found && found.made() == terms.create) {
            return new Outcome.Open(accepted, found);
        }
        throw new IOException("controlling VM of opening " + opening.id() + ": "
                + (next instanceof VmMessage.Trouble trouble
                        ? "it gave up in phase " + trouble.phase() + ": " + trouble.code()
                        : "want a drive that was " + (terms.create ? "made" : "found") + ", have another")
                + "; agentctl project close " + opening.id() + ", and open it anew");
    }
}
