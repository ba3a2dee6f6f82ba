package org.cloister.protocol.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.util.Optional;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.wire.FromVerifier;
import org.junit.jupiter.api.Test;

class ReadmissionGrantTest {
    private final HandoverFixture world = new HandoverFixture();
    private final ReadmissionGrant readmission = world.readmission();

    ReadmissionGrantTest() throws Exception {}

    private void refused(Consumer<org.cloister.protocol.handover.wire.Readmission.Builder> change, String why) {
        org.cloister.protocol.handover.wire.Readmission.Builder message =
                readmission.wire().getReadmission().toBuilder();
        change.accept(message);
        FromVerifier changed = FromVerifier.newBuilder().setReadmission(message).build();
        assertThatThrownBy(() -> VerifierMessage.read(changed.toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void reads_back_what_it_writes_with_a_key_and_without() throws Exception {
        ReadmissionGrant renewal = new ReadmissionGrant(
                readmission.target(),
                readmission.certificates(),
                Optional.empty(),
                readmission.time(),
                readmission.lease(),
                readmission.policy());
        for (ReadmissionGrant each : new ReadmissionGrant[] {readmission, renewal}) {
            assertThat(VerifierMessage.read(each.wire().toByteArray())).isEqualTo(each);
        }
    }

    @Test
    void it_is_for_one_slot_of_one_ticket_and_answers_one_circuit() {
        refused(message -> message.setTicket("mfrg"), "ticket");
        refused(
                message -> message.setTicket(BootFixture.OPENING),
                "certificate: want one of the worker tq4bcfcxfokh6sbo-3");
        refused(message -> message.setSlot(2), "certificate: want one of the worker mfrggzdfmztwq2lk-2");
        refused(message -> message.setSlot(4096), "slot");
        refused(message -> message.setVm("VM"), "vm");
        refused(message -> message.setFresh(ByteString.copyFrom(new byte[31])), "nonce");
        refused(message -> message.clearCertificates(), "certificates");
        ByteString leaf = readmission.certificates().get(0);
        refused(message -> message.clearCertificates().addCertificates(leaf), "certificates");
        refused(message -> message.setMungeKey(ByteString.EMPTY), "sealed munge key");
        refused(message -> message.setMungeKey(ByteString.copyFrom(new byte[97 + 1025 + 16])), "sealed munge key");
        refused(message -> message.setTime(-1), "time");
        refused(message -> message.setLease(59), "lease");
        refused(message -> message.setLease(604_801), "lease");
        refused(message -> message.setPolicy(ByteString.copyFrom(new byte[32])), "verifier");
    }

    @Test
    void what_was_sealed_in_a_hand_over_opens_in_no_readmission_and_none_of_another_circuits() {
        assertThat(readmission.sealingContext())
                .isNotEqualTo(world.handOver().sealingContext())
                .isNotEqualTo(SealingContext.readmission(
                        readmission.name().project(),
                        new HandoverTarget(
                                BootFixture.TICKET,
                                3,
                                HandoverFixture.VM,
                                new org.cloister.protocol.evidence.Nonce(
                                        org.cloister.base.encoding.BinaryText.base64(new byte[] {
                                            1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                            0, 0, 0, 0, 0, 0, 0
                                        })))));
    }
}
