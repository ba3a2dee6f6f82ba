package org.cloister.protocol.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.wire.FromVm;
import org.cloister.protocol.handover.wire.LastEnd;
import org.cloister.protocol.handover.wire.Opened;
import org.cloister.protocol.handover.wire.Part;
import org.cloister.protocol.handover.wire.Phase;
import org.cloister.protocol.handover.wire.Readmitted;
import org.cloister.protocol.handover.wire.Resume;
import org.cloister.protocol.handover.wire.Shown;
import org.cloister.protocol.handover.wire.Trouble;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.Test;

class VmMessageTest {
    private final SigningKey key = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
    private final ByteString envelope = envelope(2);

    VmMessageTest() throws Exception {}

    private ByteString envelope(int payload) throws Exception {
        return ByteString.copyFrom(
                DsseEnvelope.sign("application/x", new byte[payload], key).bytes());
    }

    @Test
    void reads_back_what_it_writes() throws Exception {
        for (VmMessage message : new VmMessage[] {
            new VmMessage.Evidence(envelope, BootFixture.NOW),
            new VmMessage.NoStatement(EvidenceMessage.RefusalReason.ANOTHER),
            new VmMessage.PhaseCompleted(BootPhase.TUNNEL, Duration.ofMillis(1234)),
            new VmMessage.Ready(),
            new VmMessage.Failure(BootPhase.KEYS, "no-mount"),
            new VmMessage.Heartbeat(),
            new VmMessage.FinalStatement(envelope),
            new VmMessage.Opened(0, true),
            new VmMessage.Opened(6, false),
            new VmMessage.Opened(6, false, Optional.of(new VmEndReport(BootFixture.NOW, "a reason"))),
            new VmMessage.Resume(BootFixture.TICKET, 3, HandoverFixture.VM, HandoverFixture.NONCE),
            new VmMessage.Readmitted(HandoverFixture.NONCE),
            new VmMessage.UnknownMessage()
        }) {
            assertThat(VmMessage.read(message.wire().toByteArray())).isEqualTo(message);
        }
    }

    private static void malformed(FromVm.Builder message, String why) {
        assertThatThrownBy(() -> VmMessage.read(message.build().toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void what_is_out_of_its_range_is_no_message() throws Exception {
        FromVm.Builder from = FromVm.newBuilder();
        malformed(from.setShown(Shown.newBuilder().setStatement(ByteString.copyFromUtf8("{}"))), "statement");
        malformed(from.setShown(Shown.newBuilder().setStatement(envelope).setClock(-1)), "time");
        malformed(from.setShown(Shown.newBuilder().setStatement(envelope(150_000))), "statement");
        malformed(from.setNoStatement("perhaps"), "evidence: refused");
        malformed(from.setPhase(Phase.newBuilder().setPhase("queue")), "phase");
        malformed(from.setPhase(Phase.newBuilder().setPhase("boot").setTook(-1)), "milliseconds");
        malformed(from.setPhase(Phase.newBuilder().setPhase("boot").setTook(604_800_001)), "milliseconds");
        for (String code : new String[] {"", "No", "no mount", "a1", "a".repeat(41)}) {
            malformed(from.setTrouble(Trouble.newBuilder().setPhase("boot").setCode(code)), "code");
        }
        malformed(from.setTrouble(Trouble.newBuilder().setCode("a")), "phase");
        malformed(from.setPart(Part.getDefaultInstance()), "part");
        malformed(from.setPart(Part.newBuilder().setStatement(envelope(8000))), "part");
        malformed(from.setOpened(Opened.newBuilder().setEpoch(1).setDrive("made")), "epoch");
        malformed(from.setOpened(Opened.newBuilder().setDrive("found")), "epoch");
        malformed(from.setOpened(Opened.newBuilder().setEpoch(1L << 53).setDrive("found")), "epoch");
        malformed(from.setOpened(Opened.newBuilder().setEpoch(1)), "drive");
        Resume.Builder resume = Resume.newBuilder().setSlot(3).setFresh(HandoverEncoding.bytes(HandoverFixture.NONCE));
        malformed(from.setResume(resume.clone().setTicket(BootFixture.TICKET)), "vm");
        malformed(from.setResume(resume.clone().setVm(HandoverFixture.VM)), "ticket");
        malformed(
                from.setResume(resume.clearFresh().setTicket(BootFixture.TICKET).setVm(HandoverFixture.VM)), "nonce");
        malformed(from.setReadmitted(Readmitted.getDefaultInstance()), "nonce");
        malformed(new VmMessage.Ready().wire().toBuilder().addCritical(12), "field 12 is critical");
        assertThatThrownBy(() -> VmMessage.read(new byte[] {10, 9})).isInstanceOf(MalformedException.class);
        assertThat(EvidenceMessage.MAX_ENVELOPE + 64).isLessThan(ProtocolLimits.BOOTING_VM_MESSAGE_BYTES);
    }

    @Test
    void an_end_report_is_of_a_drive_that_was_found_and_one_line_of_printable_text() {
        Opened.Builder found = Opened.newBuilder().setEpoch(6).setDrive("found");
        LastEnd.Builder end = LastEnd.newBuilder().setTime(BootFixture.NOW.toEpochMilli());
        FromVm.Builder from = FromVm.newBuilder();
        malformed(from.setOpened(found.setLastEnd(end)), "reason");
        for (String text : new String[] {"a\nb", "a\u001b[2J", "\u00fcber", "a".repeat(VmEndReport.MAX_REASON + 1)}) {
            malformed(from.setOpened(found.setLastEnd(end.clone().setText(text))), "reason");
        }
        malformed(from.setOpened(found.setLastEnd(end.clone().setText("a").setTime(-1))), "time");
        malformed(
                from.setOpened(Opened.newBuilder().setDrive("made").setLastEnd(end.setText("a"))),
                "last end: want none of a created drive");
    }

    @Test
    void an_end_report_takes_any_text_and_makes_it_printable() {
        Instant time = BootFixture.NOW.plusMillis(7);
        assertThat(VmEndReport.of(time, "a\n\u001b[2J \u00fc")).isEqualTo(new VmEndReport(BootFixture.NOW, "a ?[2J ?"));
        assertThat(VmEndReport.of(time, "").reason()).isEqualTo("?");
        assertThat(VmEndReport.of(time, "x".repeat(VmEndReport.MAX_REASON + 1)).reason())
                .hasSize(VmEndReport.MAX_REASON);
    }
}
