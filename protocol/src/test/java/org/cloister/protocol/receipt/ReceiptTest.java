package org.cloister.protocol.receipt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.receipt.ReceiptFinding.Level;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.SignedTicketFixture;
import org.cloister.protocol.ticket.TicketEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReceiptTest {
    private final ReceiptFixture world = new ReceiptFixture(2);

    ReceiptTest() throws Exception {}

    private void assertWrong(Receipt receipt, String subject) throws Exception {
        ReceiptVerification found = world.verify(receipt);
        assertThat(found.isVerified()).isFalse();
        assertThat(found.findings())
                .as(subject)
                .anyMatch(each -> each.level() == Level.WRONG && each.subject().startsWith(subject));
    }

    private Receipt withSlots(ReceiptSlot first, ReceiptSlot second) throws Exception {
        return world.receipt(TicketEnd.COMPLETED, true, List.of(first, second));
    }

    private ReceiptSlot slot(int slot) throws Exception {
        return world.machines.get(slot).whole();
    }

    @Test
    void a_job_of_two_hosts_and_two_workers_has_a_receipt_that_holds() throws Exception {
        Receipt receipt = world.completed();
        assertThat(Receipt.parse(receipt.payload())).isEqualTo(receipt);
        ReceiptVerification found = world.verify(receipt);
        assertThat(found.findings()).noneMatch(each -> each.level().compareTo(Level.CLAIM) > 0);
        assertThat(found.isVerified()).isTrue();
        assertThat(found.findings())
                .filteredOn(each -> each.level() == Level.HOLDS)
                .hasSizeGreaterThan(6);
    }

    @Test
    void the_documents_inside_say_which_project_it_is_and_are_named_a_claim() throws Exception {
        byte[] envelope = world.sign(world.completed());
        ReceiptVerification found =
                ReceiptVerifier.verify(envelope, Optional.empty(), List.of(world.world.siteKey.verificationKey()));
        assertThat(found.isVerified()).isTrue();
        assertThat(found.findings())
                .anyMatch(each -> each.level() == Level.CLAIM && each.text().contains(world.ticket.project()));
    }

    @Test
    void without_the_site_s_key_hosts_are_unknown_and_without_documents_everything_is() throws Exception {
        byte[] envelope = world.sign(world.completed());
        ReceiptVerification noSite = ReceiptVerifier.verify(envelope, Optional.of(world.world.project), List.of());
        assertThat(noSite.worst()).isEqualTo(Level.UNKNOWN);
        assertThat(noSite.isVerified()).isFalse();
        Receipt whole = world.completed();
        Receipt bare = new Receipt(
                whole.project(),
                whole.ticket(),
                whole.digest(),
                whole.request(),
                whole.requester(),
                whole.controller(),
                whole.relay(),
                whole.globalJob(),
                whole.allocation(),
                whole.slots(),
                whole.policy(),
                whole.end(),
                whole.ended(),
                whole.issued(),
                whole.audit(),
                List.of());
        ReceiptVerification nothing = ReceiptVerifier.verify(world.sign(bare), Optional.empty(), List.of());
        assertThat(nothing.worst()).isEqualTo(Level.UNKNOWN);
    }

    @Test
    void a_part_of_another_slot_is_found() throws Exception {
        ReceiptSlot first = slot(0);
        ReceiptSlot second = slot(1);
        byte[] evidence = second.evidence().orElseThrow().bytes();
        assertWrong(withSlots(first.withEvidence(evidence), second), "slot 0: evidence");
        byte[] part = second.hostStatement().orElseThrow().bytes();
        assertWrong(withSlots(first.withHostStatement(part), second), "slot 0: host's part");
        byte[] worker = second.workerStatement().orElseThrow().bytes();
        assertWrong(withSlots(first.withWorkerStatement(worker), second), "slot 0: worker's part");
        HandoverRecord handOver = second.handOver().orElseThrow();
        assertWrong(withSlots(first.withHandOver(handOver), second), "slot 0: hand-over");
        assertWrong(withSlots(first.withHost(ReceiptBytes.bytes(second.host())), second), "slot 0: host's certificate");
    }

    @Test
    void a_part_of_another_receipt_of_the_same_hosts_is_found() throws Exception {
        ReceiptFixture other = new ReceiptFixture(world.world, 2);
        ReceiptSlot theirs = other.machines.get(0).whole();
        ReceiptSlot ours = slot(0);
        ReceiptSlot second = slot(1);
        assertWrong(withSlots(theirs, second), "slot 0");
        assertWrong(
                withSlots(
                        ours.withHostStatement(
                                theirs.hostStatement().orElseThrow().bytes()),
                        second),
                "slot 0: host's part");
        assertWrong(withSlots(ours.withEvidence(theirs.evidence().orElseThrow().bytes()), second), "slot 0: evidence");
        assertWrong(
                withSlots(
                        ours.withWorkerStatement(
                                theirs.workerStatement().orElseThrow().bytes()),
                        second),
                "slot 0: worker's part");
        Receipt whole = world.completed();
        Receipt mixed = other.completed();
        assertWrong(ReceiptFixture.changed(whole, mixed.request(), whole.allocation(), whole.audit()), "ticket");
        assertWrong(ReceiptFixture.changed(whole, whole.request(), mixed.allocation(), whole.audit()), "allocation");
    }

    @Test
    void a_missing_part_is_found() throws Exception {
        ReceiptSlot whole = slot(0);
        ReceiptSlot second = slot(1);
        List<ReceiptSlot> less = List.of(
                new ReceiptSlot(
                        0, whole.host(), Optional.empty(), whole.evidence(), whole.handOver(), whole.workerStatement()),
                new ReceiptSlot(
                        0,
                        whole.host(),
                        whole.hostStatement(),
                        Optional.empty(),
                        whole.handOver(),
                        whole.workerStatement()),
                new ReceiptSlot(
                        0,
                        whole.host(),
                        whole.hostStatement(),
                        whole.evidence(),
                        Optional.empty(),
                        whole.workerStatement()),
                new ReceiptSlot(
                        0, whole.host(), whole.hostStatement(), whole.evidence(), whole.handOver(), Optional.empty()),
                new ReceiptSlot(
                        0,
                        List.of(),
                        whole.hostStatement(),
                        whole.evidence(),
                        whole.handOver(),
                        whole.workerStatement()),
                ReceiptSlot.empty(0));
        for (ReceiptSlot each : less) {
            assertWrong(withSlots(each, second), "slot 0");
        }
        assertWrong(world.receipt(TicketEnd.COMPLETED, true, List.of(whole)), "slots");
        assertWrong(world.receipt(TicketEnd.COMPLETED, false, List.of(whole, second)), "allocation");
        assertWrong(world.receipt(TicketEnd.COMPLETED, false, List.of()), "allocation");
    }

    @Test
    void a_slot_stands_once_and_in_its_place() throws Exception {
        ReceiptSlot first = slot(0);
        assertThatThrownBy(() -> withSlots(first, first)).hasMessageContaining("slots[1].slot");
        assertThatThrownBy(() -> withSlots(slot(1), first)).hasMessageContaining("slots[0].slot");
    }

    @Test
    void a_wrong_key_is_found() throws Exception {
        ReceiptFixture.Machine machine = world.machines.get(0);
        ReceiptSlot second = slot(1);
        SigningKey otherHost = world.world.hosts.get(1).key();
        byte[] part = machine.part().sign(otherHost).bytes();
        assertWrong(withSlots(machine.whole().withHostStatement(part), second), "slot 0: host's part");
        byte[] worker = machine.worker()
                .sign(SignedTicketFixture.key(SignatureCurve.P384))
                .bytes();
        assertWrong(withSlots(machine.whole().withWorkerStatement(worker), second), "slot 0: worker's part");
        HandoverRecord other = HandoverRecord.of(
                ReceiptFixture.at(61),
                world.workerChain(SignedTicketFixture.key(SignatureCurve.P384), 0),
                machine.nonce);
        assertWrong(withSlots(machine.whole().withHandOver(other), second), "slot 0: hand-over");
        Receipt whole = world.completed();
        byte[] head = world.head().sign(otherHost).envelope().bytes();
        assertWrong(ReceiptFixture.changed(whole, whole.request(), whole.allocation(), ReceiptBytes.of(head)), "audit");
        byte[] allocated = world.allocation.sign(otherHost).bytes();
        assertWrong(
                ReceiptFixture.changed(whole, whole.request(), Optional.of(ReceiptBytes.of(allocated)), whole.audit()),
                "allocation");
        byte[] request =
                world.ticket.sign(SignedTicketFixture.key(SignatureCurve.P384)).bytes();
        assertWrong(
                ReceiptFixture.changed(whole, ReceiptBytes.of(request), whole.allocation(), whole.audit()), "ticket");
        ReceiptVerification unknown = world.verify(
                whole.sign(SignedTicketFixture.key(SignatureCurve.P384)).bytes());
        assertThat(unknown.worst()).isEqualTo(Level.WRONG);
        ReceiptFixture others = new ReceiptFixture(2);
        assertThat(others.verify(world.sign(whole)).worst()).isEqualTo(Level.WRONG);
        ReceiptVerification otherSite = ReceiptVerifier.verify(
                world.sign(whole), Optional.of(world.world.project), List.of(others.world.siteKey.verificationKey()));
        assertThat(otherSite.findings())
                .anyMatch(each -> each.subject().equals("relay") && each.level() == Level.WRONG);
    }

    @Test
    void a_ticket_does_not_end_as_openings_do() throws Exception {
        assertWrong(world.receipt(TicketEnd.SUPERSEDED, false, List.of()), "end");
    }

    @ParameterizedTest
    @EnumSource(value = TicketEnd.class, mode = EnumSource.Mode.EXCLUDE, names = "SUPERSEDED")
    void each_end_has_what_it_must_and_no_more(TicketEnd end) throws Exception {
        boolean hasStarted = end == TicketEnd.COMPLETED || end == TicketEnd.NODE_FAILED;
        boolean without = end == TicketEnd.REFUSED;
        boolean handsOver = !without && end != TicketEnd.NOT_STARTED;
        List<ReceiptSlot> empty = List.of(ReceiptSlot.empty(0), ReceiptSlot.empty(1));
        assertThat(world.verify(world.receipt(end, false, List.of())).isVerified())
                .isEqualTo(!hasStarted);
        assertThat(world.verify(world.receipt(end, true, empty)).isVerified())
                .isEqualTo(!without && end != TicketEnd.COMPLETED);
        assertThat(world.verify(world.receipt(end, true, List.of(slot(0), slot(1))))
                        .isVerified())
                .isEqualTo(handsOver);
        ReceiptSlot whole = slot(0);
        ReceiptSlot hostless = new ReceiptSlot(
                0, whole.host(), Optional.empty(), whole.evidence(), whole.handOver(), whole.workerStatement());
        boolean mayBeGone = end == TicketEnd.NODE_FAILED || end == TicketEnd.LOST;
        assertThat(world.verify(world.receipt(end, true, List.of(hostless, slot(1))))
                        .isVerified())
                .isEqualTo(mayBeGone);
    }

    @Test
    void times_out_of_order_are_found() throws Exception {
        ReceiptFixture.Machine machine = world.machines.get(0);
        HostStatement good = machine.part();
        HostStatement early = new HostStatement(
                good.facts(),
                good.digest(),
                good.globalJob(),
                good.started(),
                good.started(),
                good.end(),
                good.scratch(),
                good.removed());
        byte[] part = early.sign(machine.host.key()).bytes();
        assertWrong(withSlots(machine.whole().withHostStatement(part), slot(1)), "slot 0: times");
    }

    @Test
    void what_is_not_known_to_be_erased_is_said() throws Exception {
        ReceiptFixture.Machine machine = world.machines.get(0);
        WorkerStatement good = machine.worker();
        WorkerStatement left = new WorkerStatement(
                good.project(),
                good.ticket(),
                good.digest(),
                0,
                good.vm(),
                Optional.empty(),
                good.ended(),
                Optional.empty());
        ReceiptSlot slot =
                machine.whole().withWorkerStatement(left.sign(machine.boot).bytes());
        assertThat(world.verify(withSlots(slot, slot(1))).findings())
                .anyMatch(each -> each.text().contains("NOT known to be erased")
                        && each.text().contains("never registered"));
    }

    @Test
    void owners_who_left_are_still_who_they_were() throws Exception {
        SigningKey cas = SignedTicketFixture.key(SignatureCurve.P384);
        SigningKey dan = SignedTicketFixture.key(SignatureCurve.P384);
        ProjectOwners owners = new ProjectOwners(
                2,
                List.of(
                        new ProjectOwners.Owner("cas", cas.verificationKey()),
                        new ProjectOwners.Owner("dan", dan.verificationKey())));
        ProjectHistory before = world.world.project;
        byte[] successor = DsseEnvelope.sign(
                        ProjectDocument.SUCCESSOR, before.successor(owners, ReceiptFixture.at(9999)), world.world.ann)
                .countersign(world.world.ben)
                .countersign(cas)
                .countersign(dan)
                .bytes();
        ReceiptVerification found = ReceiptVerifier.verify(
                world.sign(world.completed()),
                Optional.of(before.with(successor)),
                List.of(world.world.siteKey.verificationKey()));
        assertThat(found.isVerified()).isTrue();
    }

    /** The controlling VM was opened anew while the job ran, and certificates live for a day. */
    @Test
    void a_ticket_of_an_earlier_life_is_verified_as_of_its_own_time() throws Exception {
        Receipt whole = world.completed();
        Instant late = SignedTicketFixture.NOW.plus(Duration.ofHours(30));
        CertificateName name = new CertificateName("c1", "controller", world.ticket.project());
        SigningKey key = SignedTicketFixture.key(SignatureCurve.P384);
        List<byte[]> chain = List.of(world.world.owner.issue(
                name, SubjectPublicKey.of(key.verificationKey()), late.minusSeconds(60), SignedTicketFixture.DAY));
        Receipt receipt = new Receipt(
                whole.project(),
                whole.ticket(),
                whole.digest(),
                whole.request(),
                whole.controller(),
                ReceiptBytes.all(chain),
                whole.relay(),
                whole.globalJob(),
                whole.allocation(),
                whole.slots(),
                whole.policy(),
                whole.end(),
                whole.ended(),
                late,
                whole.audit(),
                whole.documents());
        ReceiptVerification found = world.verify(receipt.sign(key).bytes());
        assertThat(found.findings()).noneMatch(each -> each.level().compareTo(Level.CLAIM) > 0);
    }

    @Test
    void the_largest_receipt_fits() throws Exception {
        Receipt one = new ReceiptFixture(1).completed();
        long slot = (long) one.payload().length - world.refused().payload().length;
        assertThat(4096 * slot + Allocation.MAX_ENVELOPE / 3 * 4).isLessThan(Receipt.MAX_BYTES);
        assertThat(Receipt.MAX_BYTES / 3L * 4 + 8192).isLessThan(Receipt.MAX_ENVELOPE);
    }

    @Test
    void what_is_no_receipt_is_malformed() {
        for (byte[] each : List.of(new byte[0], "{}".getBytes(UTF_8))) {
            assertThatThrownBy(() -> world.verify(each)).isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void an_unknown_part_of_the_frame_is_refused() throws Exception {
        String payload = new String(world.refused().payload(), UTF_8);
        for (String[] change : new String[][] {
            {"Statement/v1", "Statement/v0.1"},
            {"urn:cloister:receipt:v1", HostStatement.PREDICATE},
            {"{\"sha256\":", "{\"sha512\":\"\",\"sha256\":"},
            {"\"predicateType\"", "\"extra\":1,\"predicateType\""},
            {"\"end\":\"refused\"", "\"end\":\"gone\""},
            {Digest.sha256(world.ticket.payload()).hex(), "00"}
        }) {
            String bad = payload.replace(change[0], change[1]);
            assertThat(bad).isNotEqualTo(payload);
            assertThatThrownBy(() -> Receipt.parse(bad.getBytes(UTF_8)))
                    .as(change[1])
                    .isInstanceOf(MalformedException.class);
        }
    }
}
