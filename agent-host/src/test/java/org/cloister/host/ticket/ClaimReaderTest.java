package org.cloister.host.ticket;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimReaderTest {
    @TempDir
    private Path folder;

    private ClaimWorld world;
    private EpochBook epochs;
    private Instant now;

    @BeforeEach
    void begin() throws Exception {
        world = new ClaimWorld();
        now = ClaimWorld.NOW.plusSeconds(40);
        epochs = EpochBook.open(folder.resolve("epochs"));
    }

    private ClaimReader reader(Anchors of, VerificationKey key, boolean used) {
        return new ClaimReader(key, new Beliefs(of, RevocationLists.none(), () -> now), epochs, ticket -> used);
    }

    /** Of a host that was just started. */
    private ClaimReader reader() {
        return reader(world.anchors(), world.host.verificationKey(), false);
    }

    private void refused(
            TicketClause clause, ClaimReader reader, OfficeMessage.Claimed claimed, String ticket, long job)
            throws IOException {
        long epoch = epochs.of(world.genesis.id());
        TicketRefused refused =
                catchThrowableOfType(TicketRefused.class, () -> reader.read(claimed, world.relay, ticket, job));
        assertThat(refused).isNotNull();
        assertThat(refused.clause()).isEqualTo(clause);
        assertThat(EpochBook.open(folder.resolve("epochs")).of(world.genesis.id()))
                .isEqualTo(epoch);
    }

    private void refused(TicketClause clause, OfficeMessage.Claimed claimed) throws IOException {
        refused(clause, reader(), claimed, world.ticket.id(), ClaimWorld.JOB);
    }

    private Assigned read() throws Exception {
        return reader().read(world.claimed(world.papers()), world.relay, world.ticket.id(), ClaimWorld.JOB);
    }

    @Test
    void a_claim_that_holds_says_what_is_to_run_and_its_epoch_is_on_disk() throws Exception {
        ClaimReader reader = reader();
        Assigned assigned = reader.read(world.claimed(world.papers()), world.relay, world.ticket.id(), ClaimWorld.JOB);
        assertThat(assigned.slot().slot()).isZero();
        assertThat(assigned.slot().address()).hasToString("10.64.12.2");
        assertThat(assigned.allocation().vlan()).isEqualTo(103);
        assertThat(assigned.signed().request().cpusPerTask()).isEqualTo(12);
        assertThat(assigned.signed().signer().role()).isEqualTo(Role.CONTROLLER);
        assertThat(assigned.relay()).isEqualTo(world.relay);
        assertThat(assigned.project().envelopes())
                .containsExactlyElementsOf(world.papers().documents().stream()
                        .map(ByteString::toByteArray)
                        .toList());
        String project = assigned.signed().project();
        assertThat(EpochBook.open(folder.resolve("epochs")).of(project)).isEqualTo(3);
        assertThat(reader.beliefs().anchors().of(project))
                .isEqualTo(world.genesis.ownerKeys().stream().collect(Collectors.toSet()));
    }

    @Test
    void each_refusal_has_its_clause_and_raises_no_epoch() throws Exception {
        OfficeMessage.Claimed claimed = world.claimed(world.papers());
        String ticket = world.ticket.id();
        VerificationKey host = world.host.verificationKey();
        refused(TicketClause.PROJECT, reader(), claimed, ticket, ClaimWorld.JOB + 1);
        refused(TicketClause.PROJECT, reader(), claimed, Ticket.newId(new SecureRandom()), ClaimWorld.JOB);
        refused(
                TicketClause.PROJECT,
                reader(world.anchors(), world.relay.key(), false),
                claimed,
                ticket,
                ClaimWorld.JOB);
        refused(TicketClause.USED, reader(world.anchors(), host, true), claimed, ticket, ClaimWorld.JOB);
        refused(TicketClause.SIGNATURE, world.claimed(world.papers(), List.of()));
        refused(TicketClause.SIGNATURE, reader(Anchors.none(), host, false), claimed, ticket, ClaimWorld.JOB);
        now = now.plus(ClaimCheck.LONGEST).plusSeconds(120);
        refused(TicketClause.EXPIRED, claimed);
    }

    @Test
    void a_ticket_of_an_epoch_that_was_left_behind_starts_nothing() throws Exception {
        read();
        Ticket ticket = world.ticket;
        Ticket later =
                new Ticket(ticket.id(), ticket.project(), 4, 1, ticket.issued(), ticket.expires(), ticket.request());
        epochs.raise(new SignedTicket(later, 4, Digest.sha256(later.payload()), world.relay));
        refused(TicketClause.SEQUENCE, world.claimed(world.papers()));
    }

    @Test
    void a_ticket_that_waited_is_started_once_the_controlling_vm_that_was_opened_anew_has_taken_it_over()
            throws Exception {
        Ticket ticket = world.ticket;
        Ticket newer = new Ticket(
                Ticket.newId(new SecureRandom()),
                ticket.project(),
                5,
                1,
                ticket.issued(),
                ticket.expires(),
                ticket.request());
        reader().read(world.claimed(world.papers(), 4), world.relay, ticket.id(), ClaimWorld.JOB);
        assertThat(epochs.of(ticket.project())).as("the life whose word it was").isEqualTo(4);
        epochs.raise(new SignedTicket(newer, 5, Digest.sha256(newer.payload()), world.relay));
        refused(TicketClause.SEQUENCE, world.claimed(world.papers(), 4));
        Assigned assigned = reader().read(world.claimed(world.papers(), 5), world.relay, ticket.id(), ClaimWorld.JOB);
        assertThat(assigned.signed().id()).isEqualTo(ticket.id());
        assertThat(EpochBook.open(folder.resolve("epochs")).of(ticket.project()))
                .isEqualTo(5);
    }

    @Test
    void an_openers_opening_is_a_claim_and_its_epoch_is_not_the_tickets() throws Exception {
        read();
        Assigned assigned =
                reader().read(world.opened(5, "10.64.12.1"), world.relay, ClaimWorld.OPENING, ClaimWorld.JOB);
        assertThat(assigned.signed()).isInstanceOfSatisfying(SignedOpening.class, opening -> {
            assertThat(opening.opening().drive()).isEqualTo("main");
            assertThat(opening.signer().role()).isEqualTo(Role.OPENER);
        });
        assertThat(assigned.slot().address())
                .isEqualTo(assigned.allocation().network().controller());
        EpochBook onDisk = EpochBook.open(folder.resolve("epochs"));
        assertThat(onDisk.opened(world.genesis.id())).isEqualTo(5);
        assertThat(onDisk.of(world.genesis.id())).isEqualTo(3);
        refused(TicketClause.SEQUENCE, reader(), world.opened(4, "10.64.12.1"), ClaimWorld.OPENING, ClaimWorld.JOB);
    }

    @Test
    void an_opening_with_a_workers_address_or_by_who_is_no_opener_is_refused() throws Exception {
        refused(TicketClause.PROJECT, reader(), world.opened(5, "10.64.12.2"), ClaimWorld.OPENING, ClaimWorld.JOB);
        OfficeMessage.Claimed opened = world.opened(5, "10.64.12.1");
        OfficeMessage.Claimed swapped = new OfficeMessage.Claimed(
                opened.ticket(),
                world.claimed(world.papers()).chain(),
                opened.allocation(),
                opened.head(),
                opened.project());
        refused(TicketClause.SIGNATURE, reader(), swapped, ClaimWorld.OPENING, ClaimWorld.JOB);
        assertThat(epochs.opened(world.genesis.id())).isZero();
    }

    @Test
    void a_signer_of_another_projects_is_refused() throws Exception {
        ClaimWorld other = new ClaimWorld();
        refused(TicketClause.SIGNATURE, world.claimed(world.papers(), other.controller));
    }

    @Test
    void whose_claim_an_answer_says_to_be_for_is_read_from_its_envelope() throws Exception {
        byte[] envelope = world.ticket.sign(world.controllerKey).bytes();
        assertThat(TicketIds.of(envelope)).contains(world.ticket.id());
        assertThat(TicketIds.project(envelope)).contains(world.genesis.id());
        assertThat(TicketIds.of(world.ticket.payload())).isEmpty();
        assertThat(TicketIds.of(new byte[0])).isEmpty();
        assertThat(TicketIds.of("{\"payload\":\"e30=\"}".getBytes(UTF_8))).isEmpty();
    }
}
