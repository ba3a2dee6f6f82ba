package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Pattern;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.wire.FromVm;
import org.cloister.protocol.link.Critical;
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
    record Shown(ByteString statement, Instant clock) implements VmMessage {
        /** @throws IllegalArgumentException if it is no envelope, or the time of no era */
        public Shown {
            requireEnvelope("statement", statement, EvidenceMessage.MAX_ENVELOPE);
            Require.time(clock);
        }
    }

    /** The other answer: the host does not vouch. */
    record NoStatement(EvidenceMessage.Why why) implements VmMessage {}

    /** A phase is over. */
    record Passed(BootPhase phase, Duration took) implements VmMessage {
        private static final Duration MOST = Duration.ofDays(7);

        /** @throws IllegalArgumentException if it took longer than a lease */
        public Passed {
            Require.within("milliseconds of a phase", took.toMillis(), 0, MOST.toMillis());
        }
    }

    /** Of a worker: its slurmd runs. */
    record Ready() implements VmMessage {}

    /**
     * It goes no further; the VM ends.
     *
     * @param code a word for operators, without anything of users
     */
    record Trouble(BootPhase phase, String code) implements VmMessage {
        private static final Pattern CODE = Pattern.compile("[a-z-]{1,40}");

        /** @throws IllegalArgumentException if the code is another text */
        public Trouble {
            Require.that(CODE.matcher(code).matches(), "code", "1 to 40 lower-case letters and -", Require.other(code));
        }
    }

    record Beat() implements VmMessage {}

    /**
     * Of a worker, the last that it says.
     *
     * @param statement its part of the receipt, an envelope
     */
    record Part(ByteString statement) implements VmMessage {
        /** @throws IllegalArgumentException if it is no envelope */
        public Part {
            requireEnvelope("part", statement, MAX_PART);
        }
    }

    /**
     * Of a controlling VM: its drive is open, and has the epoch of the {@link Unlock} from now on.
     *
     * @param epoch that the drive had before; 0 of one that was made
     */
    record Opened(long epoch, boolean made) implements VmMessage {
        /** @throws IllegalArgumentException if a drive that was made had an epoch before, or one that was found none */
        public Opened {
            Require.within("epoch", epoch, made ? 0 : 1, made ? 0 : Ticket.MAX_COUNT);
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
            Require.ticket(ticket);
            Require.slot(slot);
            Require.vm(vm);
        }
    }

    /** Of a worker: it works with what it was given anew. */
    record Readmitted(Nonce fresh) implements VmMessage {}

    /** Of a later version, to be skipped. */
    record Skipped() implements VmMessage {}

    private static void requireEnvelope(String what, ByteString envelope, int most) {
        try {
            Envelope.parse(envelope.toByteArray(), most);
        } catch (MalformedException e) {
            throw new IllegalArgumentException(what + ": " + e.getMessage(), e);
        }
    }

    static VmMessage read(byte[] bytes) throws MalformedException {
        try {
            FromVm message = FromVm.parseFrom(bytes);
            Critical.require(message.getCriticalList(), FromVm.READMITTED_FIELD_NUMBER);
            return switch (message.getKindCase()) {
                case SHOWN ->
                    new Shown(
                            message.getShown().getStatement(),
                            Instant.ofEpochMilli(message.getShown().getClock()));
                case NO_STATEMENT -> new NoStatement(EvidenceMessage.Why.parse(message.getNoStatement()));
                case PHASE ->
                    new Passed(
                            BootPhase.parse(message.getPhase().getPhase()),
                            Duration.ofMillis(message.getPhase().getTook()));
                case READY -> new Ready();
                case TROUBLE ->
                    new Trouble(
                            BootPhase.parse(message.getTrouble().getPhase()),
                            message.getTrouble().getCode());
                case BEAT -> new Beat();
                case PART -> new Part(message.getPart().getStatement());
                case OPENED -> opened(message.getOpened());
                case RESUME ->
                    new Resume(
                            message.getResume().getTicket(),
                            message.getResume().getSlot(),
                            message.getResume().getVm(),
                            Wire.nonce(message.getResume().getFresh()));
                case READMITTED ->
                    new Readmitted(Wire.nonce(message.getReadmitted().getFresh()));
                case KIND_NOT_SET -> new Skipped();
            };
        } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
            throw new MalformedException("message of a VM that boots: " + e.getMessage(), e);
        }
    }

    private static Opened opened(org.cloister.protocol.handover.wire.Opened opened) {
        String word = opened.getDrive();
        Require.that(word.equals("made") || word.equals("found"), "drive", "made or found", Require.other(word));
        return new Opened(opened.getEpoch(), word.equals("made"));
    }

    default FromVm wire() {
        FromVm.Builder message = FromVm.newBuilder();
        if (this instanceof Shown shown) {
            message.setShown(org.cloister.protocol.handover.wire.Shown.newBuilder()
                    .setStatement(shown.statement)
                    .setClock(shown.clock.toEpochMilli()));
        } else if (this instanceof NoStatement none) {
            message.setNoStatement(none.why.toString());
        } else if (this instanceof Passed passed) {
            message.setPhase(org.cloister.protocol.handover.wire.Phase.newBuilder()
                    .setPhase(passed.phase.toString())
                    .setTook(passed.took.toMillis()));
        } else if (this instanceof Ready) {
            message.setReady(org.cloister.protocol.handover.wire.Ready.getDefaultInstance());
        } else if (this instanceof Trouble trouble) {
            message.setTrouble(org.cloister.protocol.handover.wire.Trouble.newBuilder()
                    .setPhase(trouble.phase.toString())
                    .setCode(trouble.code));
        } else if (this instanceof Beat) {
            message.setBeat(org.cloister.protocol.handover.wire.Beat.getDefaultInstance());
        } else if (this instanceof Part part) {
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
                    .setFresh(Wire.bytes(resume.fresh)));
        } else if (this instanceof Readmitted readmitted) {
            message.setReadmitted(
                    org.cloister.protocol.handover.wire.Readmitted.newBuilder().setFresh(Wire.bytes(readmitted.fresh)));
        }
        return message.build();
    }
}
