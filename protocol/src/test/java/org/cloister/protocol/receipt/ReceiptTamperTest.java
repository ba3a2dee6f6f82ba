package org.cloister.protocol.receipt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.receipt.ReceiptFinding.Level;
import org.cloister.protocol.ticket.TicketEnd;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class ReceiptTamperTest {
    private final ReceiptFixture world = new ReceiptFixture(2);

    ReceiptTamperTest() throws Exception {}

    private void assertWrong(Receipt receipt, String subject) throws Exception {
        assertThat(world.verify(receipt).findings())
                .as(subject)
                .anyMatch(each -> each.level() == Level.WRONG && each.subject().startsWith(subject));
    }

    private Receipt withSlots(ReceiptSlot first, ReceiptSlot second) throws Exception {
        return world.receipt(TicketEnd.COMPLETED, true, List.of(first, second));
    }

    /** Changed and signed again by the controlling VM itself: what others signed in it does not hold any more. */
    @Test
    void a_byte_changed_in_what_others_signed_is_found_though_the_controlling_VM_signs_it() throws Exception {
        SecureRandom random = new SecureRandom();
        Receipt whole = world.completed();
        ReceiptSlot slot = whole.slots().get(0);
        ReceiptSlot second = whole.slots().get(1);
        for (int i = 0; i < 25; i++) {
            byte[] evidence = flipped(slot.evidence().orElseThrow(), random);
            assertWrong(withSlots(slot.withEvidence(evidence), second), "slot 0");
            assertWrong(
                    withSlots(
                            slot.withHostStatement(flipped(slot.hostStatement().orElseThrow(), random)), second),
                    "slot 0");
            assertWrong(
                    withSlots(
                            slot.withWorkerStatement(
                                    flipped(slot.workerStatement().orElseThrow(), random)),
                            second),
                    "slot 0");
            ReceiptBytes request = ReceiptBytes.of(flipped(whole.request(), random));
            assertWrong(ReceiptFixture.changed(whole, request, whole.allocation(), whole.audit()), "ticket");
            ReceiptBytes allocated = ReceiptBytes.of(flipped(whole.allocation().orElseThrow(), random));
            assertWrong(
                    ReceiptFixture.changed(whole, whole.request(), Optional.of(allocated), whole.audit()),
                    "allocation");
            ReceiptBytes head = ReceiptBytes.of(flipped(whole.audit(), random));
            assertWrong(ReceiptFixture.changed(whole, whole.request(), whole.allocation(), head), "audit");
            List<byte[]> chain = new ArrayList<>(ReceiptBytes.bytes(slot.host()));
            chain.set(0, flipped(slot.host().get(0), random));
            assertWrong(withSlots(slot.withHost(chain), second), "slot 0");
        }
    }

    private Receipt withHead(byte[] envelope) throws Exception {
        Receipt whole = world.completed();
        return ReceiptFixture.changed(whole, whole.request(), whole.allocation(), ReceiptBytes.of(envelope));
    }

    private Receipt withHead(AuditHead head) throws Exception {
        return withHead(head.sign(world.world.relay.key()).envelope().bytes());
    }

    @Test
    void an_audit_head_is_one_of_the_relay_s_own_log_and_not_from_after_the_receipt() throws Exception {
        SigningKey relay = world.world.relay.key();
        AuditHead head = world.head();
        assertThat(world.verify(withHead(head)).isVerified()).isTrue();
        assertWrong(
                withHead(DsseEnvelope.sign(Receipt.AUDIT_HEAD, "{}".getBytes(UTF_8), relay)
                        .bytes()),
                "audit");
        assertWrong(
                withHead(new AuditHead(
                        "r2.relay.site.cloister.internal", head.log(), head.count(), head.hash(), head.time())),
                "audit");
        assertWrong(
                withHead(new AuditHead(
                        head.relay(), head.log(), head.count(), head.hash(), ReceiptFixture.at(3710 + 121))),
                "audit");
    }

    @Test
    void a_hand_over_to_a_certificate_of_another_name_is_found_though_its_key_is_the_boot_s() throws Exception {
        ReceiptFixture.Machine machine = world.machines.get(0);
        ReceiptSlot second = world.machines.get(1).whole();
        for (CertificateName name : List.of(
                WorkerName.of(world.ticket.id(), 1, world.ticket.project()),
                new CertificateName("w1", "worker", world.ticket.project()))) {
            HandoverRecord made =
                    HandoverRecord.of(ReceiptFixture.at(61), world.workerChain(machine.boot, name), machine.nonce);
            assertWrong(withSlots(machine.whole().withHandOver(made), second), "slot 0: hand-over");
        }
    }

    /** A fourth of them, which the seed draws; all with {@code lab/test --all}. */
    @Test
    void every_byte_of_a_receipt_counts() throws Exception {
        byte[] envelope = world.sign(world.refused());
        assertThat(world.verify(envelope).isVerified()).isTrue();
        long seed = Long.getLong("cloister.seed", System.nanoTime());
        System.out.println("bytes of a receipt: CLOISTER_SEED=" + seed);
        Random random = new Random(seed);
        List<Integer> unnoticed = new ArrayList<>();
        int step = Boolean.getBoolean("cloister.sweep.all") ? 1 : 4;
        for (int i = random.nextInt(step); i < envelope.length; i += step) {
            byte[] changed = envelope.clone();
            changed[i] ^= (byte) (1 << random.nextInt(8));
            try {
                if (world.verify(changed).isVerified()) {
                    unnoticed.add(i);
                }
            } catch (MalformedException e) {
                assertThat(e.getMessage()).isNotEmpty();
            }
        }
        assertThat(unnoticed).isEmpty();
    }

    private static byte[] flipped(ReceiptBytes of, Random random) {
        byte[] bytes = of.bytes();
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        return bytes;
    }
}
