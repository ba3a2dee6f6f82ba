package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.wire.FromVm;
import org.cloister.protocol.link.CriticalFields;
import org.cloister.protocol.ticket.Ticket;

/** Messages of a booting VM, and later of a worker, to its verifier; docs/protocol.md, section 11. */
public sealed interface VmMessage {
    /** Limit of a worker's part of a receipt, in bytes. */
    int MAX_PART = 8192;

    /**
     * Answers the verifier's question with evidence.
     *
     * @param statement the host's, an envelope
     * @param clock the VM's
     */
    record Evidence(ByteString statement, Instant clock) implements VmMessage {
        /** @throws IllegalArgumentException if the statement is no envelope, or the time is out of range */
        public Evidence {
            requireEnvelope("statement", statement, EvidenceMessage.MAX_ENVELOPE);
            HandoverChecks.time(clock);
        }
    }

    /** Answers the verifier's question without evidence: the host refused to sign any. */
    record NoStatement(EvidenceMessage.RefusalReason reason) implements VmMessage {}

    /** Reports that a phase is completed. */
    record PhaseCompleted(BootPhase phase, Duration took) implements VmMessage {
        private static final Duration MOST = Duration.ofDays(7);

        /** @throws IllegalArgumentException if the phase took longer than a lease */
        public PhaseCompleted {
            HandoverChecks.within("milliseconds of a phase", took.toMillis(), 0, MOST.toMillis());
        }
    }

    /** Reports that a worker's slurmd runs. */
    record Ready() implements VmMessage {}

    /**
     * Reports that a phase failed; the VM shuts down.
     *
     * @param code a word for operators, without any of the users' data
     */
    record Failure(BootPhase phase, String code) implements VmMessage {
        private static final Pattern CODE = Pattern.compile("[a-z-]{1,40}");

        /** @throws IllegalArgumentException if the code is malformed */
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
     * Sends a worker's part of the receipt, as its last message.
     *
     * @param statement its part of the receipt, an envelope
     */
    record FinalStatement(ByteString statement) implements VmMessage {
        /** @throws IllegalArgumentException if the statement is no envelope */
        public FinalStatement {
            requireEnvelope("part", statement, MAX_PART);
        }
    }

    /**
     * Reports that a controlling VM's drive is open and from now on has the epoch of the {@link ProjectUnlock}.
     *
     * @param epoch that the drive had before; 0 if it was created
     * @param lastEnd of the drive's last VM, if it ended itself and no opener has acknowledged that
     */
    record Opened(long epoch, boolean made, Optional<VmEndReport> lastEnd) implements VmMessage {
        /**
         * @throws IllegalArgumentException if a created drive had an epoch or a VM before, or an existing drive had no
         *     epoch
         */
        public Opened {
            HandoverChecks.within("epoch", epoch, made ? 0 : 1, made ? 0 : Ticket.MAX_COUNT);
            HandoverChecks.that(!made || lastEnd.isEmpty(), "last end", "none of a created drive", "one");
        }

        /** Creates the message for a drive without an end report. */
        public Opened(long epoch, boolean made) {
            this(epoch, made, Optional.empty());
        }
    }

    /**
     * Resumes a worker's session, first on a circuit that the worker opens with the certificate that it received.
     *
     * @param fresh new for each circuit: secrets sealed on the circuit are sealed for this value
     */
    record Resume(String ticket, int slot, String vm, Nonce fresh) implements VmMessage {
        /** @throws IllegalArgumentException if a value is out of its range */
        public Resume {
            HandoverChecks.ticket(ticket);
            HandoverChecks.slot(slot);
            HandoverChecks.vm(vm);
        }
    }

    /** Reports that a worker uses what its readmission granted. */
    record Readmitted(Nonce fresh) implements VmMessage {}

    /** Message of a later version, which the reader skips. */
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
        return new Opened(
                opened.getEpoch(),
                word.equals("made"),
                opened.hasLastEnd() ? Optional.of(VmEndReport.of(opened.getLastEnd())) : Optional.empty());
    }

    default FromVm wire() {
        FromVm.Builder message = FromVm.newBuilder();
        if (this instanceof Evidence evidence) {
            message.setShown(org.cloister.protocol.handover.wire.Shown.newBuilder()
                    .setStatement(evidence.statement)
                    .setClock(evidence.clock.toEpochMilli()));
        } else if (this instanceof NoStatement none) {
            message.setNoStatement(none.reason.toString());
        } else if (this instanceof PhaseCompleted passed) {
            message.setPhase(org.cloister.protocol.handover.wire.Phase.newBuilder()
                    .setPhase(passed.phase.toString())
                    .setTook(passed.took.toMillis()));
        } else if (this instanceof Ready) {
            message.setReady(org.cloister.protocol.handover.wire.Ready.getDefaultInstance());
        } else if (this instanceof Failure failure) {
            message.setTrouble(org.cloister.protocol.handover.wire.Trouble.newBuilder()
                    .setPhase(failure.phase.toString())
                    .setCode(failure.code));
        } else if (this instanceof Heartbeat) {
            message.setBeat(org.cloister.protocol.handover.wire.Beat.getDefaultInstance());
        } else if (this instanceof FinalStatement part) {
            message.setPart(
                    org.cloister.protocol.handover.wire.Part.newBuilder().setStatement(part.statement));
        } else if (this instanceof Opened opened) {
            org.cloister.protocol.handover.wire.Opened.Builder drive =
                    org.cloister.protocol.handover.wire.Opened.newBuilder()
                            .setEpoch(opened.epoch)
                            .setDrive(opened.made ? "made" : "found");
            opened.lastEnd.ifPresent(report -> drive.setLastEnd(report.wire()));
            message.setOpened(drive);
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
