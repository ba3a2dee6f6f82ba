package org.cloister.protocol.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.evidence.wire.FromHost;
import org.cloister.protocol.evidence.wire.FromVm;
import org.junit.jupiter.api.Test;

class EvidenceMessageTest {
    private final EvidenceFixture world = new EvidenceFixture();

    @Test
    void reads_back_what_it_writes() throws Exception {
        EvidenceMessage.Request request = new EvidenceMessage.Request(world.claim());
        assertThat(EvidenceMessage.readRequest(request.wire().toByteArray())).isEqualTo(request);
        EvidenceMessage.Response vouched = EvidenceMessage.readResponse(
                new EvidenceMessage.Granted(world.envelope()).wire().toByteArray());
        assertThat(vouched)
                .isInstanceOfSatisfying(
                        EvidenceMessage.Granted.class,
                        read -> assertThat(EvidenceVerifier.appraise(
                                        world.policy(), world.expectation(), read.statement(), EvidenceFixture.NOW))
                                .isInstanceOf(AttestationResult.Accepted.class));
        for (EvidenceMessage.RefusalReason why : EvidenceMessage.RefusalReason.values()) {
            EvidenceMessage.Refused refused = new EvidenceMessage.Refused(why);
            assertThat(EvidenceMessage.readResponse(refused.wire().toByteArray()))
                    .isEqualTo(refused);
        }
    }

    private void refused(Consumer<FromVm.Builder> change, String why) {
        FromVm.Builder message = new EvidenceMessage.Request(world.claim()).wire().toBuilder();
        change.accept(message);
        assertThatThrownBy(() -> EvidenceMessage.readRequest(message.build().toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void a_question_has_two_keys_a_nonce_and_a_binding_and_nothing_critical_besides() {
        refused(FromVm.Builder::clearSigning, "public key");
        refused(FromVm.Builder::clearSealing, "public key");
        refused(message -> message.setSealing(message.getSigning()), "two keys");
        refused(
                message -> message.setSealing(ByteString.copyFrom(EvidenceFixture.key(SignatureCurve.P256)
                        .verificationKey()
                        .encoded())),
                "P-384");
        refused(message -> message.setNonce(ByteString.copyFrom(new byte[31])), "nonce");
        refused(message -> message.setNonce(ByteString.copyFrom(new byte[33])), "32 bytes");
        refused(message -> message.setBinding(ByteString.copyFrom(new byte[47])), "evidence asked for");
        refused(message -> message.addCritical(6), "critical");
        assertThatThrownBy(() -> EvidenceMessage.readRequest(new byte[] {10, 9}))
                .isInstanceOf(MalformedException.class);
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
            assertThatThrownBy(() -> EvidenceMessage.readResponse(wrong.toByteArray()))
                    .isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void the_longest_statement_fits() throws Exception {
        byte[] payload = new byte[EvidenceStatement.MAX_BYTES];
        DsseEnvelope envelope = DsseEnvelope.sign(EvidenceStatement.TYPE, payload, world.signer);
        assertThat(envelope.bytes().length).isLessThanOrEqualTo(EvidenceMessage.MAX_ENVELOPE);
        assertThat(EvidenceMessage.readResponse(
                        new EvidenceMessage.Granted(envelope).wire().toByteArray()))
                .isInstanceOf(EvidenceMessage.Granted.class);
    }
}
