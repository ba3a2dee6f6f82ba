package org.cloister.vm.opening;

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
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.BootKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.NoEvidence;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Unlock;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the opener of this VM's assignment: shows on a circuit what the host says of the VM, and takes what opens it, once. From
 * then on the VM shows the chain that it was given, and says on each later circuit what became of the drive. Answers and openings
 * are one after the other.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class OpeningDesk {
    private static final Logger LOG = LoggerFactory.getLogger(OpeningDesk.class);

    private final Terms terms;
    private final Vouching vouching;
    private final Opens opens;
    private final Executor work;
    private final InstantSource clock;
    private final Consumer<String> ended;
    private final SecureRandom random = new SecureRandom();
    /** What was shown in each circuit that is open. On the work's thread alone, as is what follows. */
    private final Map<OpenerTalk, Place> shown = new HashMap<>();

    private final OpeningState state;

    /**
     * Who the VM is, and whom it takes.
     *
     * @param boot its boot certificate, the same for as long as it lives: evidence holds for one
     * @param openers of the project
     */
    public record Terms(Unlocking.Self self, BootKeys keys, Credential boot, Trust openers) {}

    /** The VM's host vouches for it. */
    @FunctionalInterface
    public interface Vouching {
        Future<Envelope> ask(Claim claim);
    }

    /** Makes this VM the project's controlling VM. */
    @FunctionalInterface
    public interface Opens {
        /**
         * Blocks until the drive is open.
         *
         * @throws UnlockRefused if it cannot be; this VM is to end then
         */
        VmMessage.Opened open(Unlocked unlocked) throws UnlockRefused;
    }

    /**
     * @param work one thread, which may block
     * @param ended hears why this VM can never be opened, once or more
     */
    public OpeningDesk(
            Terms terms, Vouching vouching, Opens opens, Executor work, InstantSource clock, Consumer<String> ended) {
        this.terms = terms;
        this.vouching = vouching;
        this.opens = opens;
        this.work = work;
        this.clock = clock;
        this.ended = ended;
        this.state = new OpeningState(terms);
    }

    /** Somebody calls who is no worker. On the link's event loop. */
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        if (!dial.from().equals(terms.self().assignment().requester())
                || !dial.to().equals(terms.self().assignment().name())) {
            LOG.warn("{}: not the opener of this VM", dial.from());
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        if (!state.whenDecided(() -> answer(attachment, dial))) {
            attachment.refuse(dial, CloseReason.LIMIT);
        }
    }

    private void answer(Attachment attachment, RelayMessage.Dial dial) {
        Optional<Credential> certified;
        try {
            certified = state.certified(System.nanoTime());
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
                        certified.isPresent() ? this::installLater : this::install)
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess()) {
                        LOG.warn(
                                "opener {}: no circuit: {}",
                                dial.from(),
                                opened.cause().getMessage());
                    }
                });
    }

    /** Talks on a circuit on which this VM showed its boot certificate. */
    void install(ChannelPipeline pipeline, Circuit circuit) {
        OpenerTalk talk = OpenerTalk.booting(circuit, this::heard);
        add(pipeline, talk);
        circuit.channel().closeFuture().addListener(closed -> work.execute(() -> shown.remove(talk)));
    }

    private void installLater(ChannelPipeline pipeline, Circuit circuit) {
        OpenerTalk talk = OpenerTalk.later(circuit, this::heard);
        add(pipeline, talk);
        circuit.channel().closeFuture().addListener(closed -> state.left(talk));
        state.tell(talk);
    }

    private static void add(ChannelPipeline pipeline, OpenerTalk talk) {
        pipeline.addLast(new Framing(LinkLimits.UNLOCK_BYTES, VerifierMessage::read), talk);
    }

    private void heard(OpenerTalk talk, VerifierMessage message) {
        if (message instanceof VerifierMessage.Question question) {
            asked(talk, question.nonce());
        } else if (message instanceof Unlock unlock) {
            state.unlocking();
            work.execute(() -> unlock(talk, unlock));
        } else if (message instanceof VerifierMessage.Denied denied) {
            LOG.warn("opener denies: {}: {}", denied.clauses(), denied.text());
            talk.end();
        }
    }

    private void asked(OpenerTalk talk, Nonce nonce) {
        Claim claim;
        try {
            claim = new Claim(terms.keys(), nonce, binding(talk.circuit()));
        } catch (CertificateEncodingException e) {
            LOG.error("opener: a certificate has no DER", e);
            talk.end();
            return;
        }
        vouching.ask(claim).addListener((Future<Envelope> answer) -> work.execute(() -> vouched(talk, nonce, answer)));
    }

    private void vouched(OpenerTalk talk, Nonce nonce, Future<Envelope> answer) {
        if (answer.isSuccess()) {
            try {
                Envelope statement = answer.getNow();
                shown.put(talk, new Place(terms.self().assignment().ticket(), 0, claimedVm(statement), nonce));
                talk.say(new VmMessage.Shown(ByteString.copyFrom(statement.bytes()), clock.instant()));
                return;
            } catch (IOException | IllegalArgumentException e) {
                LOG.error("host: its statement is none: {}", e.getMessage());
            }
        } else {
            LOG.warn("host: no statement: {}", answer.cause().getMessage());
        }
        EvidenceMessage.Why why =
                answer.cause() instanceof NoEvidence refused ? refused.why() : EvidenceMessage.Why.FAILED;
        talk.say(new VmMessage.NoStatement(why));
        talk.end();
        if (why == EvidenceMessage.Why.ANOTHER && state.unlocked().isEmpty()) {
            ended.accept(
                    "the host has vouched for other keys of this VM, or in another circuit, and will not for these");
        }
    }

    private void unlock(OpenerTalk talk, Unlock unlock) {
        Place place = shown.get(talk);
        if (place == null) {
            state.refused();
            talk.end();
            return;
        }
        Optional<Unlocked> before = state.unlocked();
        try {
            long begin = System.nanoTime();
            Unlocked unlocked = Unlocking.decide(terms.self(), place, unlock, random);
            talk.say(new VmMessage.Passed(BootPhase.KEYS, since(begin)));
            if (before.isPresent()) {
                talk.say(again(before.get(), unlocked));
            } else {
                state.taken(unlocked, System.nanoTime());
                first(talk, unlocked);
            }
        } catch (UnlockRefused e) {
            LOG.error("opening refused: {}: {}", e.word(), e.getMessage());
            refuse(talk, before, new VmMessage.Trouble(e.phase(), e.word()), e.word() + ": " + e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("opening failed", e);
            // The opener waits for a word, and a VM that is open by half is not to stay with its keys.
            refuse(
                    talk,
                    Optional.empty(),
                    new VmMessage.Trouble(BootPhase.DRIVE, Refusal.CONTROLLER.toString()),
                    e.toString());
        }
    }

    /** A VM that was opened before goes on whatever a later unlocking is refused for. */
    private void refuse(OpenerTalk talk, Optional<Unlocked> before, VmMessage.Trouble trouble, String why) {
        talk.say(trouble);
        talk.end();
        if (before.isEmpty()) {
            state.refused();
            state.ended(trouble);
            ended.accept("not opened: " + why);
        }
    }

    private void first(OpenerTalk talk, Unlocked unlocked) throws UnlockRefused {
        long begin = System.nanoTime();
        VmMessage.Opened opened = opens.open(unlocked);
        talk.say(new VmMessage.Passed(BootPhase.DRIVE, since(begin)));
        talk.say(opened);
        state.ended(opened);
    }

    private VmMessage again(Unlocked before, Unlocked unlocked) throws UnlockRefused {
        if (before.epoch() != unlocked.epoch()) {
            throw new UnlockRefused(
                    Refusal.OPENED,
                    "opening: want epoch " + before.epoch() + ", which is open, have " + unlocked.epoch());
        }
        return state.outcome().orElseThrow();
    }

    private static Duration since(long beginNs) {
        return Duration.ofNanos(System.nanoTime() - beginNs);
    }

    /** This end is the server of its circuits. */
    private CircuitBinding binding(Circuit circuit) throws CertificateEncodingException {
        return CircuitBinding.of(
                terms.boot().chain().get(0).getEncoded(),
                circuit.peerCertificates().get(0).getEncoded());
    }

    /** Of a statement whose signature the opener verifies: the VM does not know its host's key. */
    private static String claimedVm(Envelope statement) throws IOException {
        byte[] payload = StrictJson.read(statement.bytes(), EvidenceMessage.MAX_ENVELOPE, EvidenceMessage.MAX_ENVELOPE)
                .base64("payload", Statement.MAX_BYTES);
        return Statement.parse(payload).facts().vm();
    }
}
