package org.cloister.vm.receipt;

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
import org.cloister.protocol.Digest;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.receipt.Finding;
import org.cloister.protocol.receipt.ReceiptVerifier;
import org.cloister.protocol.receipt.ReceiptWorld;
import org.cloister.protocol.receipt.Verification;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketWorld;
import org.cloister.vm.ticket.Site;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Receipts that are written from what comes, held against what {@code agentctl receipt verify} asks of them. */
class ReceiptsTest {
    private static final Digest POLICY = Digest.sha384("policy");

    @TempDir
    private Path folder;

    private final ReceiptWorld world = new ReceiptWorld(2);
    private final String id = world.ticket.id();
    private Instant now = ReceiptWorld.at(0);
    private Optional<Site.Relay> relay = Optional.empty();
    private Receipts receipts;
    private long count = 7;
    private String content = "head";

    ReceiptsTest() throws Exception {}

    @BeforeEach
    void start() throws Exception {
        relay = Optional.of(new Site.Relay(
                world.world.relay.chain(),
                Chain.parse(world.world.relay.chain())
                        .verifyUnlisted(List.of(Role.RELAY), world.world.anchors(), ReceiptWorld.NOW)));
        open(world.ticket.epoch(), world.world.controller);
    }

    /** As after a start of the controlling VM. */
    private void open(long epoch, TicketWorld.Party self) throws IOException {
        receipts = Receipts.open(
                new Receipts.Self(
                        world.ticket.project(), epoch, self.key(), self::chain, world.world.project.envelopes()),
                () -> relay,
                folder.resolve("drafts"),
                folder.resolve("written"),
                () -> now);
    }

    private ByteString head(long count) throws GeneralSecurityException {
        return ByteString.copyFrom(new AuditHead(
                        world.world.relay.name().toString(),
                        "h4x2mq7tq3b5zgk6d2nvp7yaou",
                        count,
                        Digest.sha256(content.getBytes(StandardCharsets.UTF_8)),
                        now)
                .sign(world.world.relay.key())
                .envelope()
                .bytes());
    }

    private void stands(TicketState state, Optional<TicketEnd> end) throws Exception {
        boolean nodes = state == TicketState.RUNNING
                || end.filter(each -> each != TicketEnd.REFUSED).isPresent();
        receipts.stands(new OfficeMessage.Update(
                id,
                state,
                end,
                "",
                nodes ? world.allocation.globalJob() : 0,
                nodes
                        ? ByteString.copyFrom(
                                world.allocation.sign(world.world.relay.key()).bytes())
                        : ByteString.EMPTY,
                head(count)));
    }

    private void ends(TicketEnd end) throws Exception {
        now = ReceiptWorld.at(3705);
        stands(TicketState.ENDED, Optional.of(end));
    }

    private void ordered() throws Exception {
        receipts.ordered(
                world.ticket, world.ticket.sign(world.world.controller.key()).bytes());
    }

    private void isGiven(ReceiptWorld.Machine machine) throws IOException {
        receipts.gave(id, machine.slot, machine.evidence, machine.handOver, POLICY);
    }

    private void says(ReceiptWorld.Machine machine) throws Exception {
        receipts.ended(
                id,
                machine.slot,
                ByteString.copyFrom(machine.worker().sign(machine.boot).bytes()));
    }

    private void reports(ReceiptWorld.Machine machine) throws Exception {
        receipts.part(new OfficeMessage.Part(
                id,
                machine.slot,
                ByteString.copyFrom(machine.part().sign(machine.host.key()).bytes()),
                machine.host.chain().stream().map(ByteString::copyFrom).toList()));
    }

    private Path written() {
        return folder.resolve("written").resolve(id + ".json");
    }

    private Verification verified() throws IOException {
        return ReceiptVerifier.verify(
                Files.readAllBytes(written()),
                Optional.of(world.world.project),
                List.of(world.world.siteKey.verificationKey()));
    }

    private void ran() throws Exception {
        ordered();
        stands(TicketState.QUEUED, Optional.empty());
        stands(TicketState.RUNNING, Optional.empty());
        for (ReceiptWorld.Machine each : world.machines) {
            isGiven(each);
        }
    }

    @Test
    void a_ticket_that_completed_has_a_receipt_of_all_parts_that_verifies() throws Exception {
        ran();
        for (ReceiptWorld.Machine each : world.machines) {
            says(each);
        }
        reports(world.machines.get(0));
        ends(TicketEnd.COMPLETED);
        assertThat(written()).as("a host has not reported yet").doesNotExist();
        assertThat(receipts.awaited()).containsExactly(id);
        now = ReceiptWorld.at(3710);
        reports(world.machines.get(1));
        assertThat(verified().findings())
                .as("what agentctl receipt verify says")
                .allMatch(each -> each.level().compareTo(Finding.Level.CLAIM) <= 0);
        assertThat(Files.getPosixFilePermissions(written())).isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(receipts.awaited()).isEmpty();
        try (var left = Files.list(folder.resolve("drafts"))) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void what_was_collected_outlives_a_start_of_the_controlling_vm_that_signs_with_another_key() throws Exception {
        ran();
        says(world.machines.get(0));
        TicketWorld.Party anew = TicketWorld.party(world.world.owner, world.world.controller.name());
        open(world.ticket.epoch() + 1, anew);
        says(world.machines.get(1));
        ends(TicketEnd.COMPLETED);
        open(world.ticket.epoch() + 1, anew);
        assertThat(receipts.awaited()).containsExactly(id);
        reports(world.machines.get(0));
        reports(world.machines.get(1));
        assertThat(verified().isVerified()).as("%s", verified().findings()).isTrue();
        assertThat(verified().receipt().requester()).isNotEmpty();
    }

    @Test
    void a_worker_that_ended_without_its_part_is_named() throws Exception {
        ran();
        says(world.machines.get(0));
        reports(world.machines.get(0));
        reports(world.machines.get(1));
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
        reports(world.machines.get(0));
        ends(TicketEnd.NODE_FAILED);
        receipts.look();
        assertThat(written()).doesNotExist();
        now = now.plus(Duration.ofHours(2));
        receipts.look();
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
        ReceiptWorld.Machine first = world.machines.get(0);
        ReceiptWorld.Machine second = world.machines.get(1);
        SigningKey stranger = TicketWorld.key(Curve.P384);
        receipts.ended(id, 0, ByteString.copyFrom(first.worker().sign(stranger).bytes()));
        receipts.ended(
                id, 0, ByteString.copyFrom(second.worker().sign(first.boot).bytes()));
        receipts.ended(id, 0, ByteString.copyFromUtf8("no envelope"));
        receipts.part(new OfficeMessage.Part(
                id, 1, ByteString.copyFrom(second.part().sign(first.host.key()).bytes()), List.of()));
        receipts.part(new OfficeMessage.Part(id, 99, ByteString.EMPTY, List.of()));
        says(first);
        reports(first);
        reports(second);
        ends(TicketEnd.CANCELLED);
        assertThat(verified().isVerified()).as("%s", verified().findings()).isTrue();
        assertThat(verified().receipt().slots().get(0).worker()).isPresent();
        assertThat(verified().receipt().slots().get(1).worker()).isEmpty();
    }

    private void isAllocated(String ticket, Digest digest) throws Exception {
        Allocation given = world.allocation;
        Allocation other = new Allocation(
                given.relay(),
                given.project(),
                ticket,
                digest,
                given.globalJob() + 1,
                given.issued(),
                given.vlan(),
                given.network(),
                given.slots());
        receipts.stands(new OfficeMessage.Update(
                id,
                TicketState.RUNNING,
                Optional.empty(),
                "",
                0,
                ByteString.copyFrom(other.sign(world.world.relay.key()).bytes()),
                head(7)));
    }

    @Test
    void an_allocation_of_another_ticket_or_of_another_payload_is_not_taken_for_the_tickets() throws Exception {
        ordered();
        isAllocated(id, Digest.sha256(new byte[] {1}));
        isAllocated(Ticket.newId(new java.security.SecureRandom()), world.allocation.digest());
        ran();
        for (ReceiptWorld.Machine each : world.machines) {
            says(each);
            reports(each);
        }
        ends(TicketEnd.COMPLETED);
        assertThat(verified().isVerified()).as("%s", verified().findings()).isTrue();
    }

    @Test
    void of_a_ticket_that_no_relay_took_nothing_is_left_and_of_a_lost_one_what_there_is() throws Exception {
        ordered();
        receipts.dropped(id);
        ordered();
        receipts.forgotten(id);
        assertThat(written()).doesNotExist();
        ran();
        reports(world.machines.get(0));
        now = ReceiptWorld.at(3705);
        receipts.forgotten(id);
        assertThat(verified().receipt().end()).isEqualTo(TicketEnd.LOST);
    }

    @Test
    void a_draft_that_is_none_of_ours_is_not_passed_over() throws Exception {
        ran();
        Path draft = folder.resolve("drafts").resolve(id + ".draft");
        Files.copy(draft, folder.resolve("drafts").resolve(Ticket.newId(new java.security.SecureRandom()) + ".draft"));
        assertThatThrownBy(() -> open(1, world.world.controller)).hasMessageContaining("want the file's name");
    }

    private AuditHead audit() throws Exception {
        return AuditHead.verify(
                        Envelope.parse(verified().receipt().audit().bytes(), AuditHead.MAX_BYTES),
                        List.of(world.world.relay.key().verificationKey()))
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
