package org.cloister.host.ticket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EpochBookTest {
    private static final String A = "a".repeat(52);
    private static final String B = "b".repeat(51) + "a";
    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

    @TempDir
    private Path folder;

    private static Ticket ticket(String project, long epoch) {
        ResourceRequest request =
                new ResourceRequest(1, OptionalInt.empty(), 1, OptionalInt.empty(), 64, 0, false, 10, List.of());
        return new Ticket("c".repeat(26), project, epoch, 1, NOW, NOW.plus(Duration.ofMinutes(1)), request);
    }

    @Test
    void the_highest_epoch_of_each_project_stays_over_restarts() throws IOException {
        Path file = folder.resolve("epochs");
        EpochBook book = EpochBook.open(file);
        assertThat(book.of(A)).isZero();
        book.raise(ticket(A, 3));
        book.raise(ticket(B, Ticket.MAX_COUNT));
        book.raise(ticket(A, 7));
        book.raise(ticket(A, 7));
        for (EpochBook each : List.of(book, EpochBook.open(file))) {
            assertThat(each.of(A)).isEqualTo(7);
            assertThat(each.of(B)).isEqualTo(Ticket.MAX_COUNT);
        }
    }

    @Test
    void an_epoch_that_was_left_behind_is_refused_and_changes_nothing() throws IOException {
        Path file = folder.resolve("epochs");
        EpochBook book = EpochBook.open(file);
        book.raise(ticket(A, 7));
        TicketRefused refused = catchThrowableOfType(TicketRefused.class, () -> book.raise(ticket(A, 6)));
        assertThat(refused.clause()).isEqualTo(TicketClause.SEQUENCE);
        assertThat(refused).hasMessageContaining("want epoch 7 or later, have 6");
        assertThat(EpochBook.open(file).of(A)).isEqualTo(7);
    }

    @Test
    void what_cannot_be_written_is_not_believed_to_be() throws IOException {
        EpochBook book = EpochBook.open(folder.resolve("away").resolve("epochs"));
        assertThatThrownBy(() -> book.raise(ticket(A, 3))).isInstanceOf(IOException.class);
        assertThat(book.of(A)).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"x 1", "%s", "%s 0", "%s 01", "%s 9999999999999999", "%s 1 1", "%s 1\n%<s 2", " %s 1", "\n%s 1"})
    void a_file_that_is_not_ours_is_refused(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("epochs"), String.format(text, A) + "\n");
        assertThatThrownBy(() -> EpochBook.open(file)).hasMessageContaining("want a project and its epoch");
    }
}
