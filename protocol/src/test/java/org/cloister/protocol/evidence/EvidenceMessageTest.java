package org.cloister.protocol.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.util.function.Consumer;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.wire.FromHost;
import org.cloister.protocol.evidence.wire.FromVm;
import org.junit.jupiter.api.Test;

class EvidenceMessageTest {
    private final World world = new World();

    @Test
    void reads_back_what_it_writes() throws Exception {
        EvidenceMessage.Asked asked = new EvidenceMessage.Asked(world.claim());
        assertThat(EvidenceMessage.readAsked(asked.wire().toByteArray())).isEqualTo(asked);
        EvidenceMessage.Answer vouched = EvidenceMessage.readAnswer(
                new EvidenceMessage.Vouched(world.envelope()).wire().toByteArray());
        assertThat(vouched)
                .isInstanceOfSatisfying(
                        EvidenceMessage.Vouched.class,
                        read -> assertThat(Verifier.decide(
                                        world.policy(), world.expectation(), read.statement(), World.NOW))
                                .isInstanceOf(Verdict.Accepted.class));
        for (EvidenceMessage.Why why : EvidenceMessage.Why.values()) {
            EvidenceMessage.Refused refused = new EvidenceMessage.Refused(why);
            assertThat(EvidenceMessage.readAnswer(refused.wire().toByteArray())).isEqualTo(refused);
        }
    }

    private void refused(Consumer<FromVm.Builder> change, String why) {
        FromVm.Builder message = new EvidenceMessage.Asked(world.claim()).wire().toBuilder();
        change.accept(message);
        assertThatThrownBy(() -> EvidenceMessage.readAsked(message.build().toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void a_question_has_two_keys_a_nonce_and_a_binding_and_nothing_critical_besides() {
        refused(FromVm.Builder::clearSigning, "public key");
        refused(FromVm.Builder::clearSealing, "public key");
        refused(message -> message.setSealing(message.getSigning()), "two keys");
        refused(
                message -> message.setSealing(ByteString.copyFrom(
                        World.key(Curve.P256).verificationKey().encoded())),
                "P-384");
        refused(message -> message.setNonce(ByteString.copyFrom(new byte[31])), "nonce");
        refused(message -> message.setNonce(ByteString.copyFrom(new byte[33])), "32 bytes");
        refused(message -> message.setBinding(ByteString.copyFrom(new byte[47])), "evidence asked for");
        refused(message -> message.addCritical(6), "critical");
        assertThatThrownBy(() -> EvidenceMessage.readAsked(new byte[] {10, 9})).isInstanceOf(MalformedException.class);
    }

    @Test
    void an_answer_is_a_statement_or_a_word_that_is_known() {
        for (FromHost wrong : new FromHost[] {
            FromHost.getDefaultInstance(),
            FromHost.newBuilder().setRefused("").build(),
            FromHost.newBuilder().setRefused("BUSY").build(),
            FromHost.newBuilder().setStatement(ByteString.copyFromUtf8("{}")).build(),
            FromHost.newBuilder().setRefused("busy").addCritical(4).build()
        }) {
            assertThatThrownBy(() -> EvidenceMessage.readAnswer(wrong.toByteArray()))
                    .isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void the_longest_statement_fits() throws Exception {
        byte[] payload = new byte[Statement.MAX_BYTES];
        Envelope envelope = Envelope.sign(Statement.TYPE, payload, world.signer);
        assertThat(envelope.bytes().length).isLessThanOrEqualTo(EvidenceMessage.MAX_ENVELOPE);
        assertThat(EvidenceMessage.readAnswer(
                        new EvidenceMessage.Vouched(envelope).wire().toByteArray()))
                .isInstanceOf(EvidenceMessage.Vouched.class);
    }
}
