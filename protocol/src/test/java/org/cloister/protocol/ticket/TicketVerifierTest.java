package org.cloister.protocol.ticket;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.ProjectApproval;
import org.junit.jupiter.api.Test;

class TicketVerifierTest {
    private static final Instant NOW = SignedTicketFixture.NOW;

    private final SignedTicketFixture world = new SignedTicketFixture();
    private final Ticket ticket = world.ticket(world.request());

    TicketVerifierTest() throws Exception {}

    private ProjectApproval approval(int nodes, int cpus, long memory, int vms, int tickets) {
        return new ProjectApproval(
                world.project.id(),
                1,
                "chem",
                NOW,
                NOW.plus(SignedTicketFixture.DAY),
                new ProjectApproval.Quota(nodes, cpus, memory, vms, 0, 0, tickets),
                List.of("fast", "ib", "zen3"));
    }

    private ProjectApproval enough() {
        return approval(2, 24, 16_384, 2, 1);
    }

    private static TicketRefusedException refused(TicketClause clause, ThrowingCallable call) {
        TicketRefusedException e = catchThrowableOfType(TicketRefusedException.class, call);
        assertThat(e).isNotNull();
        assertThat(e.clause()).isEqualTo(clause);
        assertThat(e)
                .hasMessageContaining("(" + clause + "): want ")
                .hasMessageContaining(", have ")
                .hasMessageContaining("; ");
        return e;
    }

    @Test
    void a_ticket_of_which_all_is_well_is_taken() throws Exception {
        SignedTicket signed = world.signed(ticket);
        assertThat(signed.ticket()).isEqualTo(ticket);
        assertThatCode(() -> TicketVerifier.require(signed, new TicketPosition(3, 6), enough(), QuotaUsage.NONE, NOW))
                .doesNotThrowAnyException();
    }

    @Test
    void what_is_no_ticket_is_malformed() throws Exception {
        refused(TicketClause.MALFORMED, () -> SignedTicket.read(new byte[] {'{'}, world.identity(world.controller)));
        byte[] other = DsseEnvelope.sign(Ticket.TYPE, "{}".getBytes(UTF_8), world.controller.key())
                .bytes();
        refused(TicketClause.MALFORMED, () -> SignedTicket.read(other, world.identity(world.controller)));
        byte[] longer = DsseEnvelope.sign(Ticket.TYPE, new byte[Ticket.MAX_BYTES], world.controller.key())
                .bytes();
        refused(TicketClause.MALFORMED, () -> SignedTicket.read(longer, world.identity(world.controller)));
    }

    @Test
    void only_a_controlling_VM_s_own_signature_counts() throws Exception {
        byte[] bytes = ticket.sign(SignedTicketFixture.key(SignatureCurve.P384)).bytes();
        refused(TicketClause.SIGNATURE, () -> SignedTicket.read(bytes, world.identity(world.controller)));
        byte[] otherType = DsseEnvelope.sign(Withdrawal.TYPE, ticket.payload(), world.controller.key())
                .bytes();
        refused(TicketClause.SIGNATURE, () -> SignedTicket.read(otherType, world.identity(world.controller)));
        for (String lifetime : List.of("03", "3", "1", "0", "-4", "9007199254740992", "")) {
            byte[] odd = signedAs(Ticket.TYPE + ";epoch=" + lifetime);
            refused(
                    lifetime.matches("3|1|9007199254740992") ? TicketClause.MALFORMED : TicketClause.SIGNATURE,
                    () -> SignedTicket.read(odd, world.identity(world.controller)));
        }
        SignedTicketFixture.Signer member =
                SignedTicketFixture.party(world.owner, new CertificateName("eve", "member", world.project.id()));
        byte[] members = ticket.sign(member.key()).bytes();
        refused(TicketClause.SIGNATURE, () -> SignedTicket.read(members, world.identity(member)));
        byte[] withdrawal =
                new Withdrawal(ticket.id(), ticket.project()).sign(member.key()).bytes();
        refused(TicketClause.SIGNATURE, () -> SignedTicket.readWithdrawal(withdrawal, world.identity(member)));
    }

    @Test
    void a_project_asks_for_itself_alone() throws Exception {
        SignedTicketFixture other = new SignedTicketFixture();
        byte[] theirs =
                other.ticket(world.request()).sign(world.controller.key()).bytes();
        refused(TicketClause.PROJECT, () -> SignedTicket.read(theirs, world.identity(world.controller)));
        byte[] withdrawal = new Withdrawal(ticket.id(), other.project.id())
                .sign(world.controller.key())
                .bytes();
        refused(TicketClause.PROJECT, () -> SignedTicket.readWithdrawal(withdrawal, world.identity(world.controller)));
        byte[] ours = new Withdrawal(ticket.id(), ticket.project())
                .sign(world.controller.key())
                .bytes();
        assertThat(SignedTicket.readWithdrawal(ours, world.identity(world.controller))
                        .ticket())
                .isEqualTo(ticket.id());
    }

    @Test
    void a_ticket_holds_from_its_time_to_its_expiry_give_or_take_two_minutes() throws Exception {
        SignedTicket signed = world.signed(ticket);
        Instant first = ticket.issued().minus(Duration.ofMinutes(2));
        Instant end = ticket.expires().plus(Duration.ofMinutes(2));
        assertThatCode(() -> TicketVerifier.requireTime(signed, first)).doesNotThrowAnyException();
        assertThatCode(() -> TicketVerifier.requireTime(signed, end.minusMillis(1)))
                .doesNotThrowAnyException();
        refused(TicketClause.EXPIRED, () -> TicketVerifier.requireTime(signed, first.minusMillis(1)));
        refused(TicketClause.EXPIRED, () -> TicketVerifier.requireTime(signed, end));
    }

    @Test
    void an_epoch_outranks_every_sequence_of_the_one_before() throws Exception {
        SignedTicket signed = world.signed(ticket);
        for (TicketPosition older :
                List.of(TicketPosition.NONE, new TicketPosition(3, 6), new TicketPosition(2, Ticket.MAX_COUNT))) {
            assertThatCode(() -> TicketVerifier.requireNewer(signed, older)).doesNotThrowAnyException();
        }
        for (TicketPosition newer :
                List.of(new TicketPosition(3, 7), new TicketPosition(3, 8), new TicketPosition(4, 1))) {
            refused(TicketClause.SEQUENCE, () -> TicketVerifier.requireNewer(signed, newer));
        }
    }

    @Test
    void a_feature_must_be_in_the_approval_s_table() throws Exception {
        SignedTicket signed = world.signed(ticket);
        ProjectApproval two = new ProjectApproval(
                world.project.id(), 1, "chem", NOW, NOW.plusSeconds(9), enough().quota(), List.of("fast", "ib"));
        refused(TicketClause.FEATURES, () -> TicketVerifier.requireFeatures(signed, two));
        ProjectApproval none =
                new ProjectApproval(world.project.id(), 1, "chem", NOW, NOW.plusSeconds(9), enough().quota());
        refused(TicketClause.FEATURES, () -> TicketVerifier.requireFeatures(signed, none));
        assertThatCode(() -> TicketVerifier.requireFeatures(signed, enough())).doesNotThrowAnyException();
    }

    @Test
    void each_number_of_the_quota_bounds_and_all_that_are_passed_are_said() throws Exception {
        SignedTicket signed = world.signed(ticket);
        for (ProjectApproval less : List.of(
                approval(1, 24, 16_384, 2, 1),
                approval(2, 23, 16_384, 2, 1),
                approval(2, 24, 16_383, 2, 1),
                approval(2, 24, 16_384, 1, 1),
                approval(2, 24, 16_384, 2, 0))) {
            refused(TicketClause.QUOTA, () -> TicketVerifier.requireQuota(signed, less, QuotaUsage.NONE));
        }
        QuotaUsage one = QuotaUsage.NONE.with(ticket.request());
        assertThat(one).isEqualTo(new QuotaUsage(1, 2, 24, 16_384, 2));
        TicketRefusedException all =
                refused(TicketClause.QUOTA, () -> TicketVerifier.requireQuota(signed, enough(), one));
        assertThat(all)
                .hasMessageContaining("1 and 1 more of 1 tickets")
                .hasMessageContaining("2 and 2 more of 2 nodes")
                .hasMessageContaining("24 and 24 more of 24 CPUs")
                .hasMessageContaining("16384 MiB of memory")
                .hasMessageContaining("of 2 VMs");
        assertThatCode(() -> TicketVerifier.requireQuota(signed, approval(4, 48, 32_768, 4, 2), one))
                .doesNotThrowAnyException();
    }

    @Test
    void all_of_a_node_s_memory_is_bounded_by_nodes() {
        ResourceRequest whole =
                new ResourceRequest(2, OptionalInt.empty(), 1, OptionalInt.empty(), 0, 0, true, 1, List.of());
        assertThat(QuotaUsage.NONE.with(whole)).isEqualTo(new QuotaUsage(1, 2, 2, 0, 2));
    }

    private byte[] signedAs(String type) throws Exception {
        return DsseEnvelope.sign(type, world.ticket(world.request()).payload(), world.controller.key())
                .bytes();
    }

    @Test
    void a_ticket_that_a_later_life_took_over_is_the_same_and_its_word() throws Exception {
        Ticket ticket = world.ticket(world.request());
        SignedTicket first = world.signed(ticket);
        assertThat(first.epoch()).isEqualTo(ticket.epoch());
        byte[] envelope = ticket.sign(world.controller.key(), 5).bytes();
        SignedTicket later = SignedTicket.read(envelope, world.identity(world.controller));
        assertThat(later.ticket()).isEqualTo(ticket);
        assertThat(later.digest()).isEqualTo(first.digest());
        assertThat(later.epoch()).isEqualTo(5);
        assertThat(SignedRequest.read(envelope, world.identity(world.controller)))
                .isEqualTo(later);
        // Nobody but its signer makes one life's word another's.
        byte[] raised =
                new String(envelope, UTF_8).replace(";epoch=5", ";epoch=6").getBytes(UTF_8);
        refused(TicketClause.SIGNATURE, () -> SignedTicket.read(raised, world.identity(world.controller)));
        byte[] lowered = new String(envelope, UTF_8).replace(";epoch=5", "").getBytes(UTF_8);
        refused(TicketClause.SIGNATURE, () -> SignedTicket.read(lowered, world.identity(world.controller)));
        refused(TicketClause.SEQUENCE, () -> TicketVerifier.requireNewer(later, TicketPosition.NONE));
        assertThat(ticket.sign(world.controller.key(), ticket.epoch()).payloadType())
                .isEqualTo(Ticket.TYPE);
        assertThatThrownBy(() -> ticket.sign(world.controller.key(), 2)).isInstanceOf(IllegalArgumentException.class);
    }
}
