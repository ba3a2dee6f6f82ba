package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.wire.FromVm;
import org.cloister.protocol.link.CriticalFields;
import org.cloister.protocol.ticket.Ticket;

/** What a VM that boots, and a worker after that, says to its verifier; docs/protocol.md, section 11. */
public sealed interface VmMessage {
    /** Of a worker's part of a receipt. */
    int MAX_PART = 8192;

    /**
     * The answer to the question.
     *
     * @param statement the host's, an envelope
     * @param clock the VM's
     */
    record Evidence(ByteString statement, Instant clock) implements VmMessage {
        /** @throws IllegalArgumentException if it is no envelope, or the time of no era */
        public Evidence {
            requireEnvelope("statement", statement, EvidenceMessage.MAX_ENVELOPE);
            HandoverChecks.time(clock);
        }
    }

    /** The other answer: the host does not vouch. */
    record NoStatement(EvidenceMessage.RefusalReason reason) implements VmMessage {}

    /** A phase is over. */
    record PhaseCompleted(BootPhase phase, Duration took) implements VmMessage {
        private static final Duration MOST = Duration.ofDays(7);

        /** @throws IllegalArgumentException if it took longer than a lease */
        public PhaseCompleted {
            HandoverChecks.within("milliseconds of a phase", took.toMillis(), 0, MOST.toMillis());
        }
    }

    /** Of a worker: its slurmd runs. */
    record Ready() implements VmMessage {}

    /**
     * It goes no further; the VM ends.
     *
     * @param code a word for operators, without anything of users
     */
    record Failure(BootPhase phase, String code) implements VmMessage {
        private static final Pattern CODE = Pattern.compile("[a-z-]{1,40}");

        /** @throws IllegalArgumentException if the code is another text */
        public Failure {
            HandoverChecks.that(
                    CODE.matcher(code).matches(),
                    "code",
                    "1 to 40 lower-case letters and -",
                    HandoverChecks.other(code));
        }
    }

    record Heartbeat() implements VmMessage {}

    /**
     * Of a worker, the last that it says.
     *
     * @param statement its part of the receipt, an envelope
     */
    record FinalStatement(ByteString statement) implements VmMessage {
        /** @throws IllegalArgumentException if it is no envelope */
        public FinalStatement {
            requireEnvelope("part", statement, MAX_PART);
        }
    }

    /**
     * Of a controlling VM: its drive is open, and has the epoch of the {@link ProjectUnlock} from now on.
     *
     * @param epoch that the drive had before; 0 of one that was made
     */
    record Opened(long epoch, boolean made) implements VmMessage {
        /** @throws IllegalArgumentException if a drive that was made had an epoch before, or one that was found none */
        public Opened {
            HandoverChecks.within("epoch", epoch, made ? 0 : 1, made ? 0 : Ticket.MAX_COUNT);
        }
    }

    /**
     * Of a worker, first on a circuit that it opens with the certificate that it was given.
     *
     * @param fresh new for each circuit: what is sealed on it is sealed for that
     */
    record Resume(String ticket, int slot, String vm, Nonce fresh) implements VmMessage {
        /** @throws IllegalArgumentException if a value is out of its range */
        public Resume {
            HandoverChecks.ticket(ticket);
            HandoverChecks.slot(slot);
            HandoverChecks.vm(vm);
        }
    }

    /** Of a worker: it works with what it was given anew. */
    record Readmitted(Nonce fresh) implements VmMessage {}

    /** Of a later version, to be skipped. */
    record UnknownMessage() implements VmMessage {}

    private static void requireEnvelope(String what, ByteString envelope, int most) {
        try {
            DsseEnvelope.parse(envelope.toByteArray(), most);
        } catch (MalformedException e) {
            throw new IllegalArgumentException(what + ": " + e.getMessage(), e);
        }
    }

    static VmMessage read(byte[] bytes) throws MalformedException {
        try {
            FromVm message = FromVm.parseFrom(bytes);
            CriticalFields.require(message.getCriticalList(), FromVm.READMITTED_FIELD_NUMBER);
            return switch (message.getKindCase()) {
                case SHOWN ->
                    new Evidence(
                            message.getShown().getStatement(),
                            Instant.ofEpochMilli(message.getShown().getClock()));
                case NO_STATEMENT -> new NoStatement(EvidenceMessage.RefusalReason.parse(message.getNoStatement()));
                case PHASE ->
                    new PhaseCompleted(
                            BootPhase.parse(message.getPhase().getPhase()),
                            Duration.ofMillis(message.getPhase().getTook()));
                case READY -> new Ready();
                case TROUBLE ->
                    new Failure(
                            BootPhase.parse(message.getTrouble().getPhase()),
                            message.getTrouble().getCode());
                case BEAT -> new Heartbeat();
                case PART -> new FinalStatement(message.getPart().getStatement());
                case OPENED -> opened(message.getOpened());
                case RESUME ->
                    new Resume(
                            message.getResume().getTicket(),
                            message.getResume().getSlot(),
                            message.getResume().getVm(),
                            HandoverEncoding.nonce(message.getResume().getFresh()));
                case READMITTED ->
                    new Readmitted(
                            HandoverEncoding.nonce(message.getReadmitted().getFresh()));
                case KIND_NOT_SET -> new UnknownMessage();
            };
        } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
            throw new MalformedException("message of a VM that boots: " + e.getMessage(), e);
        }
    }

    private static Opened opened(org.cloister.protocol.handover.wire.Opened opened) {
        String word = opened.getDrive();
        HandoverChecks.that(
                word.equals("made") || word.equals("found"), "drive", "made or found", HandoverChecks.other(word));
        return new Opened(opened.getEpoch(), word.equals("made"));
    }

    default FromVm wire() {
        FromVm.Builder message = FromVm.newBuilder();
        if (this instanceof Evidence shown) {
            message.setShown(org.cloister.protocol.handover.wire.Shown.newBuilder()
                    .setStatement(shown.statement)
                    .setClock(shown.clock.toEpochMilli()));
        } else if (this instanceof NoStatement none) {
            message.setNoStatement(none.reason.toString());
        } else if (this instanceof PhaseCompleted passed) {
            message.setPhase(org.cloister.protocol.handover.wire.Phase.newBuilder()
                    .setPhase(passed.phase.toString())
                    .setTook(passed.took.toMillis()));
        } else if (this instanceof Ready) {
            message.setReady(org.cloister.protocol.handover.wire.Ready.getDefaultInstance());
        } else if (this instanceof Failure trouble) {
            message.setTrouble(org.cloister.protocol.handover.wire.Trouble.newBuilder()
                    .setPhase(trouble.phase.toString())
                    .setCode(trouble.code));
        } else if (this instanceof Heartbeat) {
            message.setBeat(org.cloister.protocol.handover.wire.Beat.getDefaultInstance());
        } else if (this instanceof FinalStatement part) {
            message.setPart(
                    org.cloister.protocol.handover.wire.Part.newBuilder().setStatement(part.statement));
        } else if (this instanceof Opened opened) {
            message.setOpened(org.cloister.protocol.handover.wire.Opened.newBuilder()
                    .setEpoch(opened.epoch)
                    .setDrive(opened.made ? "made" : "found"));
        } else if (this instanceof Resume resume) {
            message.setResume(org.cloister.protocol.handover.wire.Resume.newBuilder()
                    .setTicket(resume.ticket)
                    .setSlot(resume.slot)
                    .setVm(resume.vm)
                    .setFresh(HandoverEncoding.bytes(resume.fresh)));
        } else if (this instanceof Readmitted readmitted) {
            message.setReadmitted(org.cloister.protocol.handover.wire.Readmitted.newBuilder()
                    .setFresh(HandoverEncoding.bytes(readmitted.fresh)));
        }
        return message.build();
    }
}
