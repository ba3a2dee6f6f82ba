package org.cloister.host.tickets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EpochStoreTest {
    private static final String A = "a".repeat(52);
    private static final Instant NOW = ClaimFixture.NOW;

    @TempDir
    private Path folder;

    private ClaimFixture fixture;
    private String project;

    @BeforeEach
    void begin() throws Exception {
        fixture = new ClaimFixture();
        project = fixture.genesis.id();
    }

    private SignedTicket ticket(String project, long epoch) {
        ResourceRequest request =
                new ResourceRequest(1, OptionalInt.empty(), 1, OptionalInt.empty(), 64, 0, false, 10, List.of());
        Ticket ticket = new Ticket("c".repeat(26), project, epoch, 1, NOW, NOW.plus(Duration.ofMinutes(1)), request);
        return new SignedTicket(ticket, epoch, Digest.sha256(ticket.payload()), fixture.relay);
    }

    private SignedOpening opening(long epoch) {
        Opening opening =
                new Opening("d".repeat(26), project, epoch, NOW, NOW.plus(Duration.ofMinutes(1)), "main", 0, 1, 64, 10);
        return new SignedOpening(opening, Digest.sha256(opening.payload()), fixture.relay);
    }

    private void see(EpochStore epochs, ClaimFixture of, long approval, Map<String, BigInteger> lists)
            throws IOException {
        epochs.recordDocuments(
                "ticket",
                of.genesis,
                new ProjectApproval(
                        of.genesis.id(),
                        approval,
                        "lab",
                        NOW,
                        NOW.plusSeconds(60),
                        new ProjectApproval.Quota(1, 1, 1, 1, 1, 1)),
                lists);
    }

    @Test
    void the_highest_of_each_project_stays_over_restarts() throws Exception {
        Path file = folder.resolve("epochs");
        EpochStore epochs = EpochStore.open(file);
        assertThat(epochs.ticketEpoch(project)).isZero();
        ClaimFixture other = new ClaimFixture();
        BigInteger most = BigInteger.TWO.pow(159).subtract(BigInteger.ONE);
        String ann = fixture.ann.verificationKey().id();
        String ben = fixture.ben.verificationKey().id();
        see(epochs, fixture, Long.MAX_VALUE, Map.of(ann, most));
        see(epochs, other, 1, Map.of());
        epochs.raise(ticket(project, 3));
        epochs.raise(ticket(other.genesis.id(), Ticket.MAX_COUNT));
        epochs.raise(ticket(project, 7));
        epochs.raise(ticket(project, 7));
        see(epochs, fixture, Long.MAX_VALUE, Map.of(ann, BigInteger.ONE, ben, BigInteger.ZERO));
        for (EpochStore each : List.of(epochs, EpochStore.open(file))) {
            assertThat(each.ticketEpoch(project)).isEqualTo(7);
            assertThat(each.ticketEpoch(other.genesis.id())).isEqualTo(Ticket.MAX_COUNT);
            HighWaterMarks marks = each.marks(project).orElseThrow();
            assertThat(marks.approval()).isEqualTo(Long.MAX_VALUE);
            assertThat(marks.document()).isEqualTo(project);
            assertThat(marks.lists()).containsOnly(Map.entry(ann, most), Map.entry(ben, BigInteger.ZERO));
        }
    }

    @Test
    void openings_and_tickets_of_a_project_count_apart() throws IOException {
        Path file = folder.resolve("epochs");
        EpochStore epochs = EpochStore.open(file);
        see(epochs, fixture, 1, Map.of());
        epochs.raise(ticket(project, 7));
        epochs.raise(opening(2));
        epochs.raise(ticket(project, 8));
        see(epochs, fixture, 2, Map.of());
        TicketRefusedException refused =
                catchThrowableOfType(TicketRefusedException.class, () -> epochs.raise(opening(1)));
        assertThat(refused).hasMessageContaining("opening").hasMessageContaining("want epoch 2 or later, have 1");
        assertThat(EpochStore.open(file).ticketEpoch(project)).isEqualTo(8);
        assertThat(EpochStore.open(file).openingEpoch(project)).isEqualTo(2);
        assertThat(epochs.highestEpoch(opening(9))).isEqualTo(2);
        assertThat(epochs.highestEpoch(ticket(project, 9))).isEqualTo(8);
    }

    @Test
    void an_epoch_that_was_left_behind_is_refused_and_changes_nothing() throws IOException {
        Path file = folder.resolve("epochs");
        EpochStore epochs = EpochStore.open(file);
        see(epochs, fixture, 1, Map.of());
        epochs.raise(ticket(project, 7));
        TicketRefusedException refused =
                catchThrowableOfType(TicketRefusedException.class, () -> epochs.raise(ticket(project, 6)));
        assertThat(refused.clause()).isEqualTo(TicketClause.SEQUENCE);
        assertThat(refused).hasMessageContaining("want epoch 7 or later, have 6");
        assertThat(EpochStore.open(file).ticketEpoch(project)).isEqualTo(7);
    }

    @Test
    void what_cannot_be_written_is_not_believed_to_be() throws IOException {
        Path below = Files.createDirectory(folder.resolve("below"));
        EpochStore epochs = EpochStore.open(below.resolve("epochs"));
        see(epochs, fixture, 1, Map.of());
        Files.delete(below.resolve("epochs"));
        Files.delete(below);
        assertThatThrownBy(() -> epochs.raise(ticket(project, 3))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> see(epochs, fixture, 2, Map.of())).isInstanceOf(IOException.class);
        assertThat(epochs.ticketEpoch(project)).isZero();
        assertThat(epochs.marks(project).orElseThrow().approval()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x 1",
                "%s",
                "%s 1",
                "%s 01 0 0 %<s 1",
                "%s 9999999999999999 0 0 %<s 1",
                "%s 0 9999999999999999 0 %<s 1",
                "%s 1 0 %<s 1",
                "%s 1 0 1001 %<s 1",
                "%s 1 0 0 x 1",
                "%s 1 0 0 %<s 0",
                "%s 1 0 0 %<s 9999999999999999999",
                "%s 1 0 0 %<s 1 1",
                "%s 1 0 0 %<s 1 %<s",
                "%s 1 0 0 %<s 1 %<s:1 %<s:2",
                "%s 1 0 0 %<s 1 ",
                "%s 1 0 0 %<s 1\n%<s 2 0 0 %<s 1",
                " %s 1 0 0 %<s 1",
                "\n%s 1 0 0 %<s 1"
            })
    void a_file_that_is_not_ours_is_refused(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("epochs"), String.format(text, A) + "\n");
        assertThatThrownBy(() -> EpochStore.open(file)).hasMessageContaining("is not a project's high-water marks");
    }
}
