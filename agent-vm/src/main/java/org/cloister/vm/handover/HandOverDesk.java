package org.cloister.vm.handover;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.SecureRandom;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Expectation;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Verdict;
import org.cloister.protocol.evidence.Verifier;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.BootTrust;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.ticket.Slots;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers of the project's tickets come here by circuits, show what they are, and are handed over to once a slot; then their
 * circuits tell how they go, and that they are to end. All is decided on one thread.
 */
public final class HandOverDesk implements Slots {
    private static final Logger LOG = LoggerFactory.getLogger(HandOverDesk.class);

    private final Terms terms;
    private final SpentBook spent;
    private final Giver giver;
    private final Executor decisions;
    private final InstantSource clock;
    private final Consumer<WorkerEvent> news;
    private final SecureRandom random = new SecureRandom();
    private final Expected expected = new Expected();
    /** By slot's name: one worker is listened to at a time. */
    private final Map<Name, WorkerTalk> talks = new HashMap<>();

    private final Map<VerificationKey, Nonce> nonces = new HashMap<>();
    private final Set<String> released = new HashSet<>();

    /**
     * What the controlling VM is and believes.
     *
     * @param own of its name, of this boot
     * @param workers whom it certified itself
     * @param allocations opens a relay's signed allocation
     * @param policy the owners', in force
     * @param revoked whether a host's key was revoked
     * @param driveIntegrity whether changes of the project's drive are noticed
     */
    public record Terms(
            Credential own,
            Trust workers,
            Opened allocations,
            Policy policy,
            java.util.function.Predicate<VerificationKey> revoked,
            boolean driveIntegrity) {}

    /** Opens an allocation that somebody shows. */
    @FunctionalInterface
    public interface Opened {
        /** @throws IOException if no relay of the site signed it */
        Allocation open(byte[] envelope) throws IOException;
    }

    /**
     * @param decisions one thread, that of {@link Slots}' calls too
     * @param news what workers say
     */
    public HandOverDesk(
            Terms terms,
            SpentBook spent,
            Giver giver,
            Executor decisions,
            InstantSource clock,
            Consumer<WorkerEvent> news) {
        this.terms = terms;
        this.spent = spent;
        this.giver = giver;
        this.decisions = decisions;
        this.clock = clock;
        this.news = news;
    }

    @Override
    public int expect(Ticket ticket, OfficeMessage.Update update) throws IOException {
        Allocation allocation = terms.allocations().open(update.allocation().toByteArray());
        Digest digest = Digest.sha256(ticket.payload());
        if (!allocation.ticket().equals(ticket.id())
                || !allocation.project().equals(ticket.project())
                || !allocation.digest().equals(digest)) {
            throw new MalformedException("allocation: want that of ticket " + ticket.id() + ", " + digest
                    + ", have that of " + allocation.ticket() + ", " + allocation.digest());
        }
        if (allocation.slots().size() != ticket.request().nodes()) {
            throw new MalformedException("allocation: want " + ticket.request().nodes() + " slots, have "
                    + allocation.slots().size());
        }
        expected.add(allocation);
        return allocation.slots().size();
    }

    @Override
    public void release(String ticket) {
        released.add(ticket);
        of(ticket).forEach(talk -> talk.say(new VerifierMessage.Release()));
    }

    @Override
    public void forget(String ticket) {
        of(ticket).forEach(WorkerTalk::end);
        released.remove(ticket);
        expected.remove(ticket);
        giver.dismiss(ticket);
        try {
            spent.forget(ticket);
        } catch (IOException e) {
            // Nobody is expected for it, so nothing can be spent of it; the file is in the way of nobody.
            LOG.warn("ticket {}: what was spent of it is not forgotten: {}", ticket, e.toString());
        }
    }

    /** A worker calls, or whoever says so. On the link's event loop. */
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        decisions.execute(() -> {
            if (expected.find(dial.from()).isEmpty()) {
                LOG.warn("worker {}: not expected", dial.from());
                attachment.refuse(dial, CloseReason.REFUSED);
                return;
            }
            Circuit.dialBack(
                            attachment.link(),
                            dial,
                            terms.own(),
                            BootTrust.bootingOr(terms.workers()),
                            (pipeline, circuit) -> pipeline.addLast(
                                    new Framing(LinkLimits.FROM_BOOTING_BYTES, VmMessage::read), talk(circuit)))
                    .addListener((Future<Circuit> opened) -> {
                        if (!opened.isSuccess()) {
                            LOG.warn(
                                    "worker {}: no circuit: {}",
                                    dial.from(),
                                    opened.cause().getMessage());
                        }
                    });
        });
    }

    private WorkerTalk talk(Circuit circuit) {
        Name worker = circuit.terms().from();
        WorkerTalk talk = new WorkerTalk(
                circuit,
                (on, message) -> decide(worker, () -> heard(worker, on, message)),
                () -> decisions.execute(() -> talks.values().removeIf(each -> each.circuit() == circuit)));
        decide(worker, () -> begin(worker, talk));
        return talk;
    }

    private void begin(Name worker, WorkerTalk talk) {
        WorkerTalk before = talks.put(worker, talk);
        if (before != null) {
            before.end();
        }
        if (talk.boots()) {
            // The same question again if the circuit broke: a host vouches once for a VM's life.
            talk.say(new VerifierMessage.Question(
                    nonces.computeIfAbsent(talk.circuit().shown().key(), key -> Nonce.random(random))));
        }
    }

    private void heard(Name worker, WorkerTalk on, VmMessage message) throws IOException {
        Optional<Expected.Place> known = expected.find(worker);
        if (known.isEmpty() || talks.get(worker) != on) {
            on.end();
            return;
        }
        Expected.Place place = known.get();
        String ticket = place.ticket();
        int slot = place.slot().slot();
        if (message instanceof VmMessage.Shown shown) {
            shown(place, on, shown);
        } else if (message instanceof VmMessage.NoStatement none) {
            // Asked again, on another circuit, if the host is busy or could not.
            if (none.why() == EvidenceMessage.Why.ANOTHER) {
                gone(place, BootPhase.EVIDENCE, "no-statement");
            }
            on.end();
        } else if (message instanceof VmMessage.Passed passed) {
            phase(passed.phase())
                    .ifPresent(phase -> news.accept(new WorkerEvent.Passed(ticket, slot, phase, passed.took())));
        } else if (message instanceof VmMessage.Ready) {
            news.accept(new WorkerEvent.NodeReady(ticket, slot, SlotName.label(ticket, slot)));
        } else if (message instanceof VmMessage.Trouble trouble) {
            gone(place, trouble.phase(), trouble.code());
        } else if (message instanceof VmMessage.Beat) {
            on.say(new VerifierMessage.Beat());
        } else if (message instanceof VmMessage.Resume && released.contains(ticket)) {
            on.say(new VerifierMessage.Release());
        }
    }

    private void shown(Expected.Place place, WorkerTalk on, VmMessage.Shown shown) throws IOException {
        String ticket = place.ticket();
        int slot = place.slot().slot();
        VerificationKey peer = on.circuit().shown().key();
        Nonce nonce = nonces.getOrDefault(peer, Nonce.random(random));
        Policy policy = terms.policy();
        Verdict verdict = Verifier.decide(
                policy,
                new Expectation(
                        VmRole.WORKER,
                        ticket,
                        slot,
                        place.slot().key(),
                        terms.revoked().test(place.slot().key()),
                        nonce,
                        peer,
                        binding(on.circuit()),
                        true,
                        terms.driveIntegrity(),
                        spent.isSpent(ticket, slot),
                        spent.released(policy.serial())),
                Envelope.parse(shown.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                clock.instant());
        if (verdict instanceof Verdict.Refused refused) {
            List<String> clauses = new ArrayList<>();
            refused.failures().forEach(failure -> clauses.add(failure.clause().id()));
            LOG.warn("worker {} of ticket {}: evidence refused: {}", slot, ticket, refused);
            on.say(new VerifierMessage.Denied(clauses.stream().distinct().toList(), "see the project's log"));
            on.end();
            gone(place, BootPhase.EVIDENCE, "denied-" + clauses.get(0));
            return;
        }
        Verdict.Accepted accepted = (Verdict.Accepted) verdict;
        spent.spend(ticket, slot, nonce.digest().hex(), policy.serial());
        nonces.remove(peer);
        try {
            on.give(giver.give(
                    new org.cloister.protocol.handover.Place(
                            ticket, slot, accepted.statement().facts().vm(), nonce),
                    place.allocation(),
                    place.slot(),
                    accepted.statement()));
        } catch (IOException e) {
            LOG.error("worker {} of ticket {}: nothing to hand over: {}", slot, ticket, e.getMessage());
            on.end();
            gone(place, BootPhase.KEYS, "controller");
        }
    }

    private void gone(Expected.Place place, BootPhase at, String code) {
        news.accept(new WorkerEvent.NodeGone(
                place.ticket(),
                place.slot().slot(),
                new Trouble(
                        phase(at).orElse(Phase.BOOT),
                        code,
                        "the VM on " + place.slot().node() + " gave up: " + code,
                        "the project's log has more",
                        true)));
    }

    private CircuitBinding binding(Circuit circuit) throws IOException {
        try {
            X509Certificate peer = (X509Certificate) circuit.peerCertificates().get(0);
            return CircuitBinding.of(terms.own().chain().get(0).getEncoded(), peer.getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IOException("circuit: a certificate has no DER", e);
        }
    }

    private static Optional<Phase> phase(BootPhase phase) {
        return switch (phase) {
            case BOOT -> Optional.of(Phase.BOOT);
            case EVIDENCE -> Optional.of(Phase.EVIDENCE);
            case KEYS -> Optional.of(Phase.KEYS);
            case DRIVE -> Optional.empty();
            case TUNNEL -> Optional.of(Phase.TUNNEL);
            case REGISTRATION -> Optional.of(Phase.REGISTRATION);
            case TEARDOWN -> Optional.of(Phase.TEARDOWN);
        };
    }

    private List<WorkerTalk> of(String ticket) {
        List<WorkerTalk> all = new ArrayList<>();
        talks.forEach((name, talk) -> {
            if (expected.find(name)
                    .filter(place -> place.ticket().equals(ticket))
                    .isPresent()) {
                all.add(talk);
            }
        });
        return all;
    }

    @FunctionalInterface
    private interface Act {
        void run() throws IOException;
    }

    private void decide(Name worker, Act act) {
        decisions.execute(() -> {
            try {
                act.run();
            } catch (IOException | RuntimeException e) {
                LOG.error("worker {}: {}", worker, e.toString());
                WorkerTalk talk = talks.get(worker);
                if (talk != null) {
                    talk.end();
                }
            }
        });
    }
}
