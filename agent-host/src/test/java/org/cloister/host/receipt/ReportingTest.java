package org.cloister.host.receipt;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.cloister.host.ledger.Action;
import org.cloister.host.ledger.End;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportingTest {
    @TempDir
    private Path folder;

    private Instant now = Samples.NOW;
    private final Map<String, CompletableFuture<Void>> asked = new LinkedHashMap<>();

    private Parts parts(int count) throws IOException {
        Parts parts = Parts.open(folder, Samples.KEY, () -> now);
        for (int i = 1; i <= count; i++) {
            parts.running(Samples.owner(i), Samples.facts(Samples.owner(i), 0), Samples.TICKET);
            parts.rounded(List.of(new Action.Forget(Samples.owner(i), new End(End.Why.ASKED, "", 1))), false, List::of);
        }
        return parts;
    }

    private CompletableFuture<Void> report(String ticket, int slot, byte[] statement) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        assertThat(asked.put(ticket, answer)).isNull();
        assertThat(slot).isEqualTo(Samples.OWNER.slot());
        assertThat(statement).isNotEmpty();
        return answer;
    }

    private CompletableFuture<Void> answer(int number) {
        return Objects.requireNonNull(asked.remove(Samples.owner(number).ticket()));
    }

    @Test
    void each_is_said_once_until_it_is_answered_and_then_forgotten() throws IOException {
        Parts parts = parts(2);
        Reporting reporting = new Reporting(parts, this::report, () -> now);
        reporting.look();
        reporting.look();
        assertThat(asked).hasSize(2);
        answer(1).complete(null);
        reporting.look();
        assertThat(parts.unreported()).hasSize(1);
        assertThat(asked).hasSize(1);
        assertThat(answer(2)).isNotDone();
        new Reporting(Parts.open(folder, Samples.KEY, () -> now), this::report, () -> now).look();
        assertThat(asked).containsOnlyKeys(Samples.owner(2).ticket());
    }

    @Test
    void what_a_relay_refuses_is_said_again_ten_minutes_later() throws IOException {
        Parts parts = parts(1);
        Reporting reporting = new Reporting(parts, this::report, () -> now);
        reporting.look();
        answer(1).completeExceptionally(new IOException("unknown here"));
        reporting.look();
        now = now.plus(Duration.ofMinutes(10)).minusSeconds(1);
        reporting.look();
        assertThat(asked).isEmpty();
        now = now.plusSeconds(1);
        reporting.look();
        assertThat(asked).hasSize(1);
        answer(1).complete(null);
        reporting.look();
        assertThat(parts.unreported()).isEmpty();
    }

    @Test
    void many_are_brought_some_at_a_time() throws IOException {
        Reporting reporting = new Reporting(parts(40), this::report, () -> now);
        reporting.look();
        assertThat(asked).hasSize(32);
        asked.values().forEach(each -> each.complete(null));
        asked.clear();
        reporting.look();
        assertThat(asked).hasSize(8);
    }
}
