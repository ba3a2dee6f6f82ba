package org.cloister.protocol.ticket;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Instant;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.ticket.AllocationVerifier.Claimant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpeningTest {
    private static final Instant NOW = SignedTicketFixture.NOW;

    private final SignedTicketFixture world = new SignedTicketFixture();
    private final Opening opening = world.opening(3);

    OpeningTest() throws Exception {}

    private static void refused(TicketClause clause, ThrowingCallable call) {
        TicketRefusedException e = catchThrowableOfType(TicketRefusedException.class, call);
        assertThat(e).isNotNull();
        assertThat(e.clause()).isEqualTo(clause);
        assertThat(e)
                .hasMessageContaining("(" + clause + "): want ")
                .hasMessageContaining(", have ")
                .hasMessageContaining("; ");
    }

    private Opening with(long epoch, String drive, int driveMib, int cpus, int memoryMib, int minutes) {
        return new Opening(
                opening.id(),
                opening.project(),
                epoch,
                opening.issued(),
                opening.issued().plus(Ticket.LONGEST),
                drive,
                driveMib,
                cpus,
                memoryMib,
                minutes);
    }

    @Test
    void what_is_written_is_read_again_at_both_ends_of_each_range() throws Exception {
        for (Opening each : List.of(
                opening,
                with(1, "a", 0, 1, 1, 1),
                with(Ticket.MAX_COUNT, "a".repeat(32), 1 << 24, 4096, 1 << 24, 527_040))) {
            assertThat(Opening.parse(each.payload())).isEqualTo(each);
            assertThat(each.sign(world.opener.key()).bytes()).hasSizeLessThan(Opening.MAX_BYTES);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"epoch\":3|\"epoch\":0",
                "\"epoch\":3|\"epoch\":9007199254740992",
                "\"drive\":\"main\"|\"drive\":\"\"",
                "\"drive\":\"main\"|\"drive\":\"Main\"",
                "\"drive\":\"main\"|\"drive\":\"-main\"",
                "\"drive\":\"main\"|\"drive\":\"7\"",
                "\"drive\":\"main\"|\"drive\":\"0x7f\"",
                "\"drive\":\"main\"|\"drive\":\"localhost\"",
                "\"drive\":\"main\"|\"drive\":\"main-\"",
                "\"drive\":\"main\"|\"drive\":\"../main\"",
                "\"drive\":\"main\"|\"drive\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
                "\"drive\":\"main\",|",
                "\"driveMiB\":65536|\"driveMiB\":-1",
                "\"driveMiB\":65536|\"driveMiB\":16777217",
                "\"cpus\":12|\"cpus\":0",
                "\"cpus\":12|\"cpus\":4097",
                "\"memoryMiB\":8192|\"memoryMiB\":0",
                "\"memoryMiB\":8192|\"memoryMiB\":16777217",
                "\"minutes\":10080|\"minutes\":0",
                "\"minutes\":10080|\"minutes\":527041",
                "10:10:00Z|11:00:01Z",
                "10:10:00Z|10:00:00Z",
                "cloister-opening-v1|cloister-ticket-v1",
                "{\"format\"|{\"critical\":[\"gpus\"],\"gpus\":1,\"format\"",
            })
    void what_is_out_of_its_range_is_refused(String change) {
        String good = new String(opening.payload(), UTF_8);
        int bar = change.indexOf('|');
        String bad = good.replace(change.substring(0, bar), change.substring(bar + 1));
        assertThat(bad).isNotEqualTo(good);
        assertThatThrownBy(() -> Opening.parse(bad.getBytes(UTF_8))).isInstanceOf(MalformedException.class);
    }

    @Test
    void it_asks_for_one_node_with_all_CPUs_in_one_task() {
        ResourceRequest request = opening.request();
        assertThat(request.nodes()).isOne();
        assertThat(request.cpusPerNode()).isEqualTo(12);
        assertThat(request.mostCpusOfNode()).isEqualTo(12);
        assertThat(QuotaUsage.NONE.with(request)).isEqualTo(new QuotaUsage(1, 1, 12, 8192, 1));
    }

    @Test
    void an_opener_alone_opens_and_closes() throws Exception {
        assertThat(world.signed(opening).opening()).isEqualTo(opening);
        byte[] withdrawal = new Withdrawal(opening.id(), opening.project())
                .sign(world.opener.key())
                .bytes();
        assertThat(SignedOpening.readWithdrawal(withdrawal, world.identity(world.opener))
                        .ticket())
                .isEqualTo(opening.id());
        refused(TicketClause.SIGNATURE, () -> SignedTicket.readWithdrawal(withdrawal, world.identity(world.opener)));
        SignedTicketFixture.Signer member =
                SignedTicketFixture.party(world.owner, new CertificateName("max", "member", world.project.id()));
        for (SignedTicketFixture.Signer other : List.of(member, world.controller)) {
            byte[] theirs = opening.sign(other.key()).bytes();
            refused(TicketClause.SIGNATURE, () -> SignedOpening.read(theirs, world.identity(other)));
            byte[] back = new Withdrawal(opening.id(), opening.project())
                    .sign(other.key())
                    .bytes();
            refused(TicketClause.SIGNATURE, () -> SignedOpening.readWithdrawal(back, world.identity(other)));
        }
        byte[] unknown =
                opening.sign(SignedTicketFixture.key(SignatureCurve.P384)).bytes();
        refused(TicketClause.SIGNATURE, () -> SignedOpening.read(unknown, world.identity(world.opener)));
        byte[] foreign =
                new SignedTicketFixture().opening(3).sign(world.opener.key()).bytes();
        refused(TicketClause.PROJECT, () -> SignedOpening.read(foreign, world.identity(world.opener)));
    }

    @Test
    void who_may_sign_which_request_the_envelope_and_the_role_say_together() throws Exception {
        byte[] opened = opening.sign(world.opener.key()).bytes();
        assertThat(SignedRequest.read(opened, world.identity(world.opener))).isEqualTo(world.signed(opening));
        Ticket ticket = world.ticket(world.request());
        byte[] ticketBytes = ticket.sign(world.controller.key()).bytes();
        assertThat(((SignedTicket) SignedRequest.read(ticketBytes, world.identity(world.controller))).ticket())
                .isEqualTo(ticket);
        byte[] openersTicket = ticket.sign(world.opener.key()).bytes();
        refused(TicketClause.SIGNATURE, () -> SignedRequest.read(openersTicket, world.identity(world.opener)));
        byte[] controllersOpening = opening.sign(world.controller.key()).bytes();
        refused(TicketClause.SIGNATURE, () -> SignedRequest.read(controllersOpening, world.identity(world.controller)));
        byte[] ticketAsOpening = DsseEnvelope.sign(Opening.TYPE, ticket.payload(), world.opener.key())
                .bytes();
        refused(TicketClause.MALFORMED, () -> SignedRequest.read(ticketAsOpening, world.identity(world.opener)));
        refused(TicketClause.MALFORMED, () -> SignedRequest.read(new byte[0], world.identity(world.opener)));
    }

    @Test
    void an_epoch_is_taken_once_and_within_the_quota() throws Exception {
        ProjectApproval approval = new ProjectApproval(
                world.project.id(),
                1,
                "chem",
                NOW,
                NOW.plus(SignedTicketFixture.DAY),
                new ProjectApproval.Quota(1, 12, 8192, 1, 0, 0, 1));
        SignedOpening signed = world.signed(opening);
        for (long older : new long[] {0, 1, 2}) {
            assertThatCode(() -> TicketVerifier.require(signed, older, approval, QuotaUsage.NONE, NOW))
                    .doesNotThrowAnyException();
        }
        for (long newer : new long[] {3, 4, Ticket.MAX_COUNT}) {
            refused(TicketClause.SEQUENCE, () -> TicketVerifier.require(signed, newer, approval, QuotaUsage.NONE, NOW));
        }
        QuotaUsage full = QuotaUsage.NONE.with(opening.request());
        refused(TicketClause.QUOTA, () -> TicketVerifier.require(signed, 0, approval, full, NOW));
        Instant late = opening.expires().plus(TicketVerifier.TOLERANCE);
        refused(TicketClause.EXPIRED, () -> TicketVerifier.require(signed, 0, approval, QuotaUsage.NONE, late));
    }

    private AllocatedSlot slot(String address) {
        AllocatedSlot first = world.slots().get(0);
        return new AllocatedSlot(
                0,
                first.node(),
                first.host(),
                first.key(),
                ProjectAddress.parse(address),
                first.cpus(),
                first.memoryMib());
    }

    private AllocatedSlot claim(SignedRequest signed, Allocation allocation, long epoch) throws Exception {
        return AllocationVerifier.require(
                signed,
                allocation.sign(world.relay.key()).bytes(),
                world.identity(world.relay),
                new Claimant(world.hosts.get(0).key().verificationKey(), 4711, epoch, false),
                NOW.plusSeconds(40));
    }

    @Test
    void its_slot_has_the_network_s_first_address_and_a_ticket_s_never() throws Exception {
        Allocation first = world.allocation(opening, List.of(slot("10.64.12.1")));
        assertThat(Allocation.parse(first.payload())).isEqualTo(first);
        assertThat(claim(world.signed(opening), first, 3).address())
                .isEqualTo(first.network().controller());
        Allocation worker = world.allocation(opening, List.of(slot("10.64.12.2")));
        refused(TicketClause.PROJECT, () -> claim(world.signed(opening), worker, 0));
        Ticket ticket = world.ticket(new ResourceRequest(
                1, opening.request().tasks(), 12, opening.request().tasksPerNode(), 8192, 0, false, 1, List.of()));
        assertThatCode(() -> claim(world.signed(ticket), world.allocation(ticket, List.of(slot("10.64.12.2"))), 0))
                .doesNotThrowAnyException();
        refused(
                TicketClause.PROJECT,
                () -> claim(world.signed(ticket), world.allocation(ticket, List.of(slot("10.64.12.1"))), 0));
    }

    @Test
    void a_host_that_saw_a_later_epoch_starts_no_earlier_one() throws Exception {
        Allocation first = world.allocation(opening, List.of(slot("10.64.12.1")));
        refused(TicketClause.SEQUENCE, () -> claim(world.signed(opening), first, 4));
    }
}
