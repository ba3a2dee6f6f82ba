package org.cloister.protocol.ticket;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.AllocationVerifier.Claimant;
import org.junit.jupiter.api.Test;

class AllocationVerifierTest {
    private static final Instant NOW = SignedTicketFixture.NOW.plusSeconds(40);

    private final SignedTicketFixture world = new SignedTicketFixture();
    private final Ticket ticket = world.ticket(world.request());
    private final Allocation allocation = world.allocation(ticket, world.slots());
    private final Claimant second = claimant(world.hosts.get(1), 4711, 3, false);

    AllocationVerifierTest() throws Exception {}

    private static Claimant claimant(SignedTicketFixture.Signer host, long job, long epoch, boolean used) {
        return new Claimant(host.key().verificationKey(), job, epoch, used);
    }

    private AllocatedSlot claim(Ticket of, Allocation allocation, Claimant claimant, Instant now) throws Exception {
        return AllocationVerifier.require(
                world.signed(of),
                allocation.sign(world.relay.key()).bytes(),
                world.identity(world.relay),
                claimant,
                now);
    }

    private void refused(TicketClause clause, Ticket of, Allocation allocation, Claimant claimant, Instant now) {
        TicketRefusedException e =
                catchThrowableOfType(TicketRefusedException.class, () -> claim(of, allocation, claimant, now));
        assertThat(e).isNotNull();
        assertThat(e.clause()).isEqualTo(clause);
        assertThat(e)
                .hasMessageContaining("(" + clause + "): want ")
                .hasMessageContaining(", have ")
                .hasMessageContaining("; ");
    }

    private void refused(TicketClause clause, Allocation allocation) {
        refused(clause, ticket, allocation, second, NOW);
    }

    private Allocation changed(String project, String id, Digest digest) {
        return new Allocation(
                world.relay.name(),
                project,
                id,
                digest,
                4711,
                allocation.issued(),
                103,
                allocation.network(),
                world.slots());
    }

    private List<AllocatedSlot> shaped(int cpus, int memory) {
        List<AllocatedSlot> slots = new ArrayList<>();
        for (AllocatedSlot each : world.slots()) {
            slots.add(
                    new AllocatedSlot(each.slot(), each.node(), each.host(), each.key(), each.address(), cpus, memory));
        }
        return slots;
    }

    @Test
    void each_host_has_the_slot_that_names_its_key() throws Exception {
        assertThat(claim(ticket, allocation, second, NOW).slot()).isOne();
        Claimant first = claimant(world.hosts.get(0), 4711, 0, false);
        assertThat(claim(ticket, allocation, first, NOW).slot()).isZero();
    }

    @Test
    void only_the_relay_that_it_names_signs_an_allocation() throws Exception {
        byte[] others =
                allocation.sign(SignedTicketFixture.key(SignatureCurve.P256)).bytes();
        assertThat(catchThrowableOfType(
                                TicketRefusedException.class,
                                () -> AllocationVerifier.read(others, world.identity(world.relay)))
                        .clause())
                .isEqualTo(TicketClause.SIGNATURE);
        SignedTicketFixture.Signer host = world.hosts.get(0);
        byte[] hosts = allocation.sign(host.key()).bytes();
        assertThat(catchThrowableOfType(
                                TicketRefusedException.class,
                                () -> AllocationVerifier.read(hosts, world.identity(host)))
                        .clause())
                .isEqualTo(TicketClause.SIGNATURE);
        SignedTicketFixture.Signer relay =
                SignedTicketFixture.party(world.site, new CertificateName("r2", "relay", CertificateName.SITE));
        byte[] relays = allocation.sign(relay.key()).bytes();
        assertThat(catchThrowableOfType(
                                TicketRefusedException.class,
                                () -> AllocationVerifier.read(relays, world.identity(relay)))
                        .clause())
                .isEqualTo(TicketClause.PROJECT);
    }

    @Test
    void what_is_no_allocation_is_malformed() throws Exception {
        byte[] other = DsseEnvelope.sign(Allocation.TYPE, "{}".getBytes(UTF_8), world.relay.key())
                .bytes();
        for (byte[] bytes : List.of(other, new byte[0])) {
            assertThat(catchThrowableOfType(
                                    TicketRefusedException.class,
                                    () -> AllocationVerifier.read(bytes, world.identity(world.relay)))
                            .clause())
                    .isEqualTo(TicketClause.MALFORMED);
        }
    }

    @Test
    void it_is_for_this_project_ticket_and_job() throws Exception {
        Digest digest = allocation.digest();
        refused(TicketClause.PROJECT, changed(new SignedTicketFixture().project.id(), ticket.id(), digest));
        refused(TicketClause.PROJECT, changed(ticket.project(), "b".repeat(26), digest));
        refused(TicketClause.PROJECT, changed(ticket.project(), ticket.id(), Digest.sha256(new byte[1])));
        Claimant otherJob = claimant(world.hosts.get(1), 4712, 3, false);
        refused(TicketClause.PROJECT, ticket, allocation, otherJob, NOW);
        SignedTicketFixture.Signer unknown =
                SignedTicketFixture.party(world.site, new CertificateName("h3", "host", CertificateName.SITE));
        refused(TicketClause.PROJECT, ticket, allocation, claimant(unknown, 4711, 3, false), NOW);
    }

    @Test
    void an_allocation_is_claimed_when_it_is_new() {
        Instant issued = allocation.issued();
        for (Instant now : List.of(
                issued.minus(TicketVerifier.TOLERANCE),
                issued.plus(AllocationVerifier.LONGEST)
                        .plus(TicketVerifier.TOLERANCE)
                        .minusMillis(1))) {
            assertThatCode(() -> claim(ticket, allocation, second, now)).doesNotThrowAnyException();
        }
        for (Instant now : List.of(
                issued.minus(TicketVerifier.TOLERANCE).minusMillis(1),
                issued.plus(AllocationVerifier.LONGEST).plus(TicketVerifier.TOLERANCE))) {
            refused(TicketClause.EXPIRED, ticket, allocation, second, now);
        }
        Instant later = issued.plus(Duration.ofMinutes(3));
        Ticket after = new Ticket(ticket.id(), ticket.project(), 3, 7, later, later.plusSeconds(60), ticket.request());
        refused(TicketClause.EXPIRED, after, world.allocation(after, world.slots()), second, NOW);
    }

    @Test
    void a_ticket_waits_in_the_queue_longer_than_it_lives() throws Exception {
        Instant old = NOW.minus(Duration.ofDays(9));
        Ticket queued = new Ticket(ticket.id(), ticket.project(), 3, 7, old, old.plusSeconds(60), ticket.request());
        assertThat(claim(queued, world.allocation(queued, world.slots()), second, NOW)
                        .slot())
                .isOne();
    }

    @Test
    void a_ticket_is_used_once_and_not_after_a_later_boot() {
        refused(TicketClause.USED, ticket, allocation, claimant(world.hosts.get(1), 4711, 3, true), NOW);
        refused(TicketClause.SEQUENCE, ticket, allocation, claimant(world.hosts.get(1), 4711, 4, false), NOW);
    }

    @Test
    void a_shared_node_gives_what_was_asked_and_whole_cores() {
        for (int cpus : List.of(4, 12, 19)) {
            assertThatCode(() -> claim(ticket, world.allocation(ticket, shaped(cpus, 8192)), second, NOW))
                    .doesNotThrowAnyException();
        }
        for (List<AllocatedSlot> slots :
                List.of(shaped(3, 8192), shaped(20, 8192), shaped(12, 8191), shaped(12, 8193))) {
            refused(TicketClause.LIMIT, world.allocation(ticket, slots));
        }
        refused(TicketClause.LIMIT, world.allocation(ticket, world.slots().subList(0, 1)));
    }

    @Test
    void tasks_may_lie_unevenly() {
        Ticket uneven = world.ticket(
                new ResourceRequest(2, OptionalInt.of(10), 1, OptionalInt.empty(), 8192, 0, false, 1, List.of()));
        assertThatCode(() -> claim(uneven, world.allocation(uneven, shaped(16, 8192)), second, NOW))
                .doesNotThrowAnyException();
        refused(TicketClause.LIMIT, uneven, world.allocation(uneven, shaped(17, 8192)), second, NOW);
    }

    @Test
    void a_whole_node_is_as_large_as_it_is() {
        Ticket whole = world.ticket(
                new ResourceRequest(2, OptionalInt.empty(), 4, OptionalInt.empty(), 0, 0, true, 1, List.of()));
        assertThatCode(() -> claim(whole, world.allocation(whole, shaped(4096, 1 << 24)), second, NOW))
                .doesNotThrowAnyException();
        refused(TicketClause.LIMIT, whole, world.allocation(whole, shaped(3, 1 << 24)), second, NOW);
        Ticket least = world.ticket(
                new ResourceRequest(2, OptionalInt.empty(), 4, OptionalInt.empty(), 4096, 0, true, 1, List.of()));
        refused(TicketClause.LIMIT, least, world.allocation(least, shaped(64, 4095)), second, NOW);
    }
}
