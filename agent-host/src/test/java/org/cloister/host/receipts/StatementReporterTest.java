package org.cloister.host.receipts;

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
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.VmTermination;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatementReporterTest {
    @TempDir
    private Path folder;

    private Instant now = HostStatementSamples.NOW;
    private final Map<String, CompletableFuture<Void>> requests = new LinkedHashMap<>();

    private HostStatements parts(int count) throws IOException {
        HostStatements parts = HostStatements.open(folder, HostStatementSamples.KEY, () -> now);
        for (int i = 1; i <= count; i++) {
            parts.recordStart(
                    HostStatementSamples.owner(i),
                    HostStatementSamples.facts(HostStatementSamples.owner(i), 0),
                    HostStatementSamples.TICKET);
            parts.onPass(
                    List.of(new ReconcileAction.ForgetVm(
                            HostStatementSamples.owner(i), new VmTermination(VmTermination.Why.ASKED, "", 1))),
                    false,
                    List::of);
        }
        return parts;
    }

    private CompletableFuture<Void> report(String ticket, int slot, byte[] statement) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        assertThat(requests.put(ticket, answer)).isNull();
        assertThat(slot).isEqualTo(HostStatementSamples.OWNER.slot());
        assertThat(statement).isNotEmpty();
        return answer;
    }

    private CompletableFuture<Void> answer(int number) {
        return Objects.requireNonNull(
                requests.remove(HostStatementSamples.owner(number).ticket()));
    }

    @Test
    void each_is_said_once_until_it_is_answered_and_then_forgotten() throws IOException {
        HostStatements parts = parts(2);
        StatementReporter reporting = new StatementReporter(parts, this::report, () -> now);
        reporting.poll();
        reporting.poll();
        assertThat(requests).hasSize(2);
        answer(1).complete(null);
        reporting.poll();
        assertThat(parts.unreported()).hasSize(1);
        assertThat(requests).hasSize(1);
        assertThat(answer(2)).isNotDone();
        new StatementReporter(HostStatements.open(folder, HostStatementSamples.KEY, () -> now), this::report, () -> now)
                .poll();
        assertThat(requests).containsOnlyKeys(HostStatementSamples.owner(2).ticket());
    }

    @Test
    void what_a_relay_refuses_is_said_again_ten_minutes_later() throws IOException {
        HostStatements parts = parts(1);
        StatementReporter reporting = new StatementReporter(parts, this::report, () -> now);
        reporting.poll();
        answer(1).completeExceptionally(new IOException("unknown here"));
        reporting.poll();
        now = now.plus(Duration.ofMinutes(10)).minusSeconds(1);
        reporting.poll();
        assertThat(requests).isEmpty();
        now = now.plusSeconds(1);
        reporting.poll();
        assertThat(requests).hasSize(1);
        answer(1).complete(null);
        reporting.poll();
        assertThat(parts.unreported()).isEmpty();
    }

    @Test
    void many_are_brought_some_at_a_time() throws IOException {
        StatementReporter reporting = new StatementReporter(parts(40), this::report, () -> now);
        reporting.poll();
        assertThat(requests).hasSize(32);
        requests.values().forEach(each -> each.complete(null));
        requests.clear();
        reporting.poll();
        assertThat(requests).hasSize(8);
    }
}
