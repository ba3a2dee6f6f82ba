package org.cloister.host.tickets;

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
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimResponseVerifierTest {
    @TempDir
    private Path folder;

    private ClaimFixture fixture;
    private EpochStore epochs;
    private Instant now;

    @BeforeEach
    void begin() throws Exception {
        fixture = new ClaimFixture();
        now = ClaimFixture.NOW.plusSeconds(40);
        epochs = EpochStore.open(folder.resolve("epochs"));
    }

    private ClaimResponseVerifier reader(TrustAnchors of, VerificationKey key, boolean used) {
        return new ClaimResponseVerifier(
                key, new TrustStore(of, RevocationLists.none(), () -> now), epochs, ticket -> used);
    }

    /** Of a host that was just started. */
    private ClaimResponseVerifier reader() {
        return reader(fixture.anchors(), fixture.host.verificationKey(), false);
    }

    private void refused(
            TicketClause clause,
            ClaimResponseVerifier reader,
            RelayTicketMessage.Claimed claimed,
            String ticket,
            long job)
            throws IOException {
        long epoch = epochs.ticketEpoch(fixture.genesis.id());
        TicketRefusedException refused = catchThrowableOfType(
                TicketRefusedException.class, () -> reader.verify(claimed, fixture.relay, ticket, job));
        assertThat(refused).isNotNull();
        assertThat(refused.clause()).isEqualTo(clause);
        assertThat(EpochStore.open(folder.resolve("epochs")).ticketEpoch(fixture.genesis.id()))
                .isEqualTo(epoch);
    }

    private void refused(TicketClause clause, RelayTicketMessage.Claimed claimed) throws IOException {
        refused(clause, reader(), claimed, fixture.ticket.id(), ClaimFixture.JOB);
    }

    private VerifiedClaim read() throws Exception {
        return reader().verify(fixture.claimed(fixture.bundle()), fixture.relay, fixture.ticket.id(), ClaimFixture.JOB);
    }

    @Test
    void a_claim_that_holds_says_what_is_to_run_and_its_epoch_is_on_disk() throws Exception {
        ClaimResponseVerifier reader = reader();
        VerifiedClaim assigned =
                reader.verify(fixture.claimed(fixture.bundle()), fixture.relay, fixture.ticket.id(), ClaimFixture.JOB);
        assertThat(assigned.slot().slot()).isZero();
        assertThat(assigned.slot().address()).hasToString("10.64.12.2");
        assertThat(assigned.allocation().vlan()).isEqualTo(103);
        assertThat(assigned.signed().request().cpusPerTask()).isEqualTo(12);
        assertThat(assigned.signed().signer().role()).isEqualTo(CertificateRole.CONTROLLER);
        assertThat(assigned.relay()).isEqualTo(fixture.relay);
        assertThat(assigned.project().envelopes())
                .containsExactlyElementsOf(fixture.bundle().documents().stream()
                        .map(ByteString::toByteArray)
                        .toList());
        String project = assigned.signed().project();
        assertThat(EpochStore.open(folder.resolve("epochs")).ticketEpoch(project))
                .isEqualTo(3);
        assertThat(reader.trustStore().anchors().of(project))
                .isEqualTo(fixture.genesis.ownerKeys().stream().collect(Collectors.toSet()));
    }

    @Test
    void each_refusal_has_its_clause_and_raises_no_epoch() throws Exception {
        RelayTicketMessage.Claimed claimed = fixture.claimed(fixture.bundle());
        String ticket = fixture.ticket.id();
        VerificationKey host = fixture.host.verificationKey();
        refused(TicketClause.PROJECT, reader(), claimed, ticket, ClaimFixture.JOB + 1);
        refused(TicketClause.PROJECT, reader(), claimed, Ticket.newId(new SecureRandom()), ClaimFixture.JOB);
        refused(
                TicketClause.PROJECT,
                reader(fixture.anchors(), fixture.relay.key(), false),
                claimed,
                ticket,
                ClaimFixture.JOB);
        refused(TicketClause.USED, reader(fixture.anchors(), host, true), claimed, ticket, ClaimFixture.JOB);
        refused(TicketClause.SIGNATURE, fixture.claimed(fixture.bundle(), List.of()));
        refused(TicketClause.SIGNATURE, reader(TrustAnchors.none(), host, false), claimed, ticket, ClaimFixture.JOB);
        now = now.plus(AllocationVerifier.LONGEST).plusSeconds(120);
        refused(TicketClause.EXPIRED, claimed);
    }

    @Test
    void a_ticket_of_an_epoch_that_was_left_behind_starts_nothing() throws Exception {
        read();
        Ticket ticket = fixture.ticket;
        Ticket later =
                new Ticket(ticket.id(), ticket.project(), 4, 1, ticket.issued(), ticket.expires(), ticket.request());
        epochs.raise(new SignedTicket(later, 4, Digest.sha256(later.payload()), fixture.relay));
        refused(TicketClause.SEQUENCE, fixture.claimed(fixture.bundle()));
    }

    @Test
    void a_ticket_that_waited_is_started_once_the_controlling_vm_that_was_opened_anew_has_taken_it_over()
            throws Exception {
        Ticket ticket = fixture.ticket;
        Ticket newer = new Ticket(
                Ticket.newId(new SecureRandom()),
                ticket.project(),
                5,
                1,
                ticket.issued(),
                ticket.expires(),
                ticket.request());
        reader().verify(fixture.claimed(fixture.bundle(), 4), fixture.relay, ticket.id(), ClaimFixture.JOB);
        assertThat(epochs.ticketEpoch(ticket.project()))
                .as("the life whose word it was")
                .isEqualTo(4);
        epochs.raise(new SignedTicket(newer, 5, Digest.sha256(newer.payload()), fixture.relay));
        refused(TicketClause.SEQUENCE, fixture.claimed(fixture.bundle(), 4));
        VerifiedClaim assigned =
                reader().verify(fixture.claimed(fixture.bundle(), 5), fixture.relay, ticket.id(), ClaimFixture.JOB);
        assertThat(assigned.signed().id()).isEqualTo(ticket.id());
        assertThat(EpochStore.open(folder.resolve("epochs")).ticketEpoch(ticket.project()))
                .isEqualTo(5);
    }

    @Test
    void an_openers_opening_is_a_claim_and_its_epoch_is_not_the_tickets() throws Exception {
        read();
        VerifiedClaim assigned =
                reader().verify(fixture.opened(5, "10.64.12.1"), fixture.relay, ClaimFixture.OPENING, ClaimFixture.JOB);
        assertThat(assigned.signed()).isInstanceOfSatisfying(SignedOpening.class, opening -> {
            assertThat(opening.opening().drive()).isEqualTo("main");
            assertThat(opening.signer().role()).isEqualTo(CertificateRole.OPENER);
        });
        assertThat(assigned.slot().address())
                .isEqualTo(assigned.allocation().network().controller());
        EpochStore onDisk = EpochStore.open(folder.resolve("epochs"));
        assertThat(onDisk.openingEpoch(fixture.genesis.id())).isEqualTo(5);
        assertThat(onDisk.ticketEpoch(fixture.genesis.id())).isEqualTo(3);
        refused(
                TicketClause.SEQUENCE,
                reader(),
                fixture.opened(4, "10.64.12.1"),
                ClaimFixture.OPENING,
                ClaimFixture.JOB);
    }

    @Test
    void an_opening_with_a_workers_address_or_by_who_is_no_opener_is_refused() throws Exception {
        refused(
                TicketClause.PROJECT,
                reader(),
                fixture.opened(5, "10.64.12.2"),
                ClaimFixture.OPENING,
                ClaimFixture.JOB);
        RelayTicketMessage.Claimed opened = fixture.opened(5, "10.64.12.1");
        RelayTicketMessage.Claimed swapped = new RelayTicketMessage.Claimed(
                opened.ticket(),
                fixture.claimed(fixture.bundle()).chain(),
                opened.allocation(),
                opened.head(),
                opened.project());
        refused(TicketClause.SIGNATURE, reader(), swapped, ClaimFixture.OPENING, ClaimFixture.JOB);
        assertThat(epochs.openingEpoch(fixture.genesis.id())).isZero();
    }

    @Test
    void a_signer_of_another_projects_is_refused() throws Exception {
        ClaimFixture other = new ClaimFixture();
        refused(TicketClause.SIGNATURE, fixture.claimed(fixture.bundle(), other.controller));
    }

    @Test
    void whose_claim_an_answer_says_to_be_for_is_read_from_its_envelope() throws Exception {
        byte[] envelope = fixture.ticket.sign(fixture.controllerKey).bytes();
        assertThat(UnverifiedTicketIds.of(envelope)).contains(fixture.ticket.id());
        assertThat(UnverifiedTicketIds.project(envelope)).contains(fixture.genesis.id());
        assertThat(UnverifiedTicketIds.of(fixture.ticket.payload())).isEmpty();
        assertThat(UnverifiedTicketIds.of(new byte[0])).isEmpty();
        assertThat(UnverifiedTicketIds.of("{\"payload\":\"e30=\"}".getBytes(UTF_8)))
                .isEmpty();
    }
}
