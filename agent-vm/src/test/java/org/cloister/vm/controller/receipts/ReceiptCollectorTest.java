package org.cloister.vm.controller.receipts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.receipt.ReceiptFinding;
import org.cloister.protocol.receipt.ReceiptFixture;
import org.cloister.protocol.receipt.ReceiptVerification;
import org.cloister.protocol.receipt.ReceiptVerifier;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedTicketFixture;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.controller.tickets.SiteTrust;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Receipts that are written from what comes, held against what {@code agentctl receipt verify} asks of them. */
class ReceiptCollectorTest {
    private static final Digest POLICY = Digest.sha384("policy");

    @TempDir
    private Path folder;

    private final ReceiptFixture fixture = new ReceiptFixture(2);
    private final String id = fixture.ticket.id();
    private Instant now = ReceiptFixture.at(0);
    private Optional<SiteTrust.TrustedRelay> relay = Optional.empty();
    private ReceiptCollector receipts;
    private long count = 7;
    private String content = "head";

    ReceiptCollectorTest() throws Exception {}

    @BeforeEach
    void start() throws Exception {
        relay = Optional.of(new SiteTrust.TrustedRelay(
                fixture.world.relay.chain(),
                CertificateChain.parse(fixture.world.relay.chain())
                        .verifyUnlisted(List.of(CertificateRole.RELAY), fixture.world.anchors(), ReceiptFixture.NOW)));
        open(fixture.ticket.epoch(), fixture.world.controller);
    }

    /** As after a start of the controlling VM. */
    private void open(long epoch, SignedTicketFixture.Signer self) throws IOException {
        receipts = ReceiptCollector.open(
                new ReceiptCollector.ReceiptSigner(
                        fixture.ticket.project(), epoch, self.key(), self::chain, fixture.world.project.envelopes()),
                () -> relay,
                folder.resolve("drafts"),
                folder.resolve("written"),
                () -> now);
    }

    private ByteString head(long count) throws GeneralSecurityException {
        return ByteString.copyFrom(new AuditHead(
                        fixture.world.relay.name().toString(),
                        "h4x2mq7tq3b5zgk6d2nvp7yaou",
                        count,
                        Digest.sha256(content.getBytes(StandardCharsets.UTF_8)),
                        now)
                .sign(fixture.world.relay.key())
                .envelope()
                .bytes());
    }

    private void stands(TicketState state, Optional<TicketEnd> end) throws Exception {
        boolean nodes = state == TicketState.RUNNING
                || end.filter(each -> each != TicketEnd.REFUSED).isPresent();
        receipts.recordUpdate(new RelayTicketMessage.Update(
                id,
                state,
                end,
                "",
                nodes ? fixture.allocation.globalJob() : 0,
                nodes
                        ? ByteString.copyFrom(fixture.allocation
                                .sign(fixture.world.relay.key())
                                .bytes())
                        : ByteString.EMPTY,
                head(count)));
    }

    private void ends(TicketEnd end) throws Exception {
        now = ReceiptFixture.at(3705);
        stands(TicketState.ENDED, Optional.of(end));
    }

    private void ordered() throws Exception {
        receipts.recordSubmission(
                fixture.ticket,
                fixture.ticket.sign(fixture.world.controller.key()).bytes());
    }

    private void isGiven(ReceiptFixture.Machine machine) throws IOException {
        receipts.recordHandover(id, machine.slot, machine.evidence, machine.handOver, POLICY);
    }

    private void says(ReceiptFixture.Machine machine) throws Exception {
        receipts.recordWorkerStatement(
                id,
                machine.slot,
                ByteString.copyFrom(machine.worker().sign(machine.boot).bytes()));
    }

    private void reports(ReceiptFixture.Machine machine) throws Exception {
        receipts.recordHostStatement(new RelayTicketMessage.ForwardedStatement(
                id,
                machine.slot,
                ByteString.copyFrom(machine.part().sign(machine.host.key()).bytes()),
                machine.host.chain().stream().map(ByteString::copyFrom).toList()));
    }

    private Path written() {
        return folder.resolve("written").resolve(id + ".json");
    }

    private ReceiptVerification verified() throws IOException {
        return ReceiptVerifier.verify(
                Files.readAllBytes(written()),
                Optional.of(fixture.world.project),
                List.of(fixture.world.siteKey.verificationKey()));
    }

    private void ran() throws Exception {
        ordered();
        stands(TicketState.QUEUED, Optional.empty());
        stands(TicketState.RUNNING, Optional.empty());
        for (ReceiptFixture.Machine each : fixture.machines) {
            isGiven(each);
        }
    }

    @Test
    void a_ticket_that_completed_has_a_receipt_of_all_parts_that_verifies() throws Exception {
        ran();
        for (ReceiptFixture.Machine each : fixture.machines) {
            says(each);
        }
        reports(fixture.machines.get(0));
        ends(TicketEnd.COMPLETED);
        assertThat(written()).as("a host has not reported yet").doesNotExist();
        assertThat(receipts.awaitedTickets()).containsExactly(id);
        now = ReceiptFixture.at(3710);
        reports(fixture.machines.get(1));
        assertThat(verified().findings())
                .as("what agentctl receipt verify says")
                .allMatch(each -> each.level().compareTo(ReceiptFinding.Level.CLAIM) <= 0);
        assertThat(Files.getPosixFilePermissions(written())).isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(receipts.awaitedTickets()).isEmpty();
        try (var left = Files.list(folder.resolve("drafts"))) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void what_was_collected_outlives_a_start_of_the_controlling_vm_that_signs_with_another_key() throws Exception {
        ran();
        says(fixture.machines.get(0));
        SignedTicketFixture.Signer anew =
                SignedTicketFixture.party(fixture.world.owner, fixture.world.controller.name());
        open(fixture.ticket.epoch() + 1, anew);
        says(fixture.machines.get(1));
        ends(TicketEnd.COMPLETED);
        open(fixture.ticket.epoch() + 1, anew);
        assertThat(receipts.awaitedTickets()).containsExactly(id);
        reports(fixture.machines.get(0));
        reports(fixture.machines.get(1));
        assertThat(verified().isVerified()).as("%s", verified().findings()).isTrue();
        assertThat(verified().receipt().requester()).isNotEmpty();
    }

    @Test
    void a_worker_that_ended_without_its_part_is_named() throws Exception {
        ran();
        says(fixture.machines.get(0));
        reports(fixture.machines.get(0));
        reports(fixture.machines.get(1));
        ends(TicketEnd.CANCELLED);
        assertThat(verified().isVerified()).isTrue();
        assertThat(verified().findings())
                .anySatisfy(each -> assertThat(each.toString())
                        .contains("slot 1: worker's part")
                        .contains("said nothing of its end"));
    }

    @Test
    void a_host_that_is_lost_is_waited_for_and_then_named() throws Exception {
        ran();
        reports(fixture.machines.get(0));
        ends(TicketEnd.NODE_FAILED);
        receipts.issueDue();
        assertThat(written()).doesNotExist();
        now = now.plus(Duration.ofHours(2));
        receipts.issueDue();
        assertThat(verified().findings())
                .anySatisfy(each -> assertThat(each.toString())
                        .contains("slot 1: host's part")
                        .contains("said nothing of its end"));
    }

    @Test
    void a_ticket_without_nodes_has_its_receipt_at_once() throws Exception {
        ordered();
        stands(TicketState.QUEUED, Optional.empty());
        ends(TicketEnd.REFUSED);
        assertThat(verified().isVerified()).as("%s", verified().findings()).isTrue();
    }

    @Test
    void parts_that_are_nobodys_or_anothers_are_not_taken() throws Exception {
        ran();
        ReceiptFixture.Machine first = fixture.machines.get(0);
        ReceiptFixture.Machine second = fixture.machines.get(1);
        SigningKey unknownKey = SignedTicketFixture.key(SignatureCurve.P384);
        receipts.recordWorkerStatement(
                id, 0, ByteString.copyFrom(first.worker().sign(unknownKey).bytes()));
        receipts.recordWorkerStatement(
                id, 0, ByteString.copyFrom(second.worker().sign(first.boot).bytes()));
        receipts.recordWorkerStatement(id, 0, ByteString.copyFromUtf8("no envelope"));
        receipts.recordHostStatement(new RelayTicketMessage.ForwardedStatement(
                id, 1, ByteString.copyFrom(second.part().sign(first.host.key()).bytes()), List.of()));
        receipts.recordHostStatement(new RelayTicketMessage.ForwardedStatement(id, 99, ByteString.EMPTY, List.of()));
        says(first);
        reports(first);
        reports(second);
        ends(TicketEnd.CANCELLED);
        assertThat(verified().isVerified()).as("%s", verified().findings()).isTrue();
        assertThat(verified().receipt().slots().get(0).workerStatement()).isPresent();
        assertThat(verified().receipt().slots().get(1).workerStatement()).isEmpty();
    }

    private void isAllocated(String ticket, Digest digest) throws Exception {
        Allocation verified = fixture.allocation;
        Allocation other = new Allocation(
                verified.relay(),
                verified.project(),
                ticket,
                digest,
                verified.globalJob() + 1,
                verified.issued(),
                verified.vlan(),
                verified.network(),
                verified.slots());
        receipts.recordUpdate(new RelayTicketMessage.Update(
                id,
                TicketState.RUNNING,
                Optional.empty(),
                "",
                0,
                ByteString.copyFrom(other.sign(fixture.world.relay.key()).bytes()),
                head(7)));
    }

    @Test
    void an_allocation_of_another_ticket_or_of_another_payload_is_not_taken_for_the_tickets() throws Exception {
        ordered();
        isAllocated(id, Digest.sha256(new byte[] {1}));
        isAllocated(Ticket.newId(new java.security.SecureRandom()), fixture.allocation.digest());
        ran();
        for (ReceiptFixture.Machine each : fixture.machines) {
            says(each);
            reports(each);
        }
        ends(TicketEnd.COMPLETED);
        assertThat(verified().isVerified()).as("%s", verified().findings()).isTrue();
    }

    @Test
    void of_a_ticket_that_no_relay_took_nothing_is_left_and_of_a_lost_one_what_there_is() throws Exception {
        ordered();
        receipts.recordRejection(id);
        ordered();
        receipts.recordForgotten(id);
        assertThat(written()).doesNotExist();
        ran();
        reports(fixture.machines.get(0));
        now = ReceiptFixture.at(3705);
        receipts.recordForgotten(id);
        assertThat(verified().receipt().end()).isEqualTo(TicketEnd.LOST);
    }

    @Test
    void a_draft_that_is_none_of_ours_is_not_passed_over() throws Exception {
        ran();
        Path draft = folder.resolve("drafts").resolve(id + ".draft");
        Files.copy(draft, folder.resolve("drafts").resolve(Ticket.newId(new java.security.SecureRandom()) + ".draft"));
        assertThatThrownBy(() -> open(1, fixture.world.controller)).hasMessageContaining("want the file's name");
    }

    private AuditHead audit() throws Exception {
        return AuditHead.verify(
                        DsseEnvelope.parse(verified().receipt().audit().bytes(), AuditHead.MAX_BYTES),
                        List.of(fixture.world.relay.key().verificationKey()))
                .head();
    }

    @Test
    void a_relay_that_shows_less_of_its_log_than_before_or_another_one_is_held_to_what_it_has_shown() throws Exception {
        ordered();
        count = 9;
        stands(TicketState.QUEUED, Optional.empty());
        count = 8;
        stands(TicketState.QUEUED, Optional.empty());
        count = 9;
        content = "forked";
        ends(TicketEnd.REFUSED);
        assertThat(audit().count()).isEqualTo(9);
        assertThat(audit().hash()).isEqualTo(Digest.sha256("head".getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void a_relay_whose_log_goes_on_is_quoted_with_its_newest_head() throws Exception {
        ordered();
        stands(TicketState.QUEUED, Optional.empty());
        count = 12;
        ends(TicketEnd.REFUSED);
        assertThat(audit().count()).isEqualTo(12);
    }
}
