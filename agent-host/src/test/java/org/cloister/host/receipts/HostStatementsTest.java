package org.cloister.host.receipts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.resources.VmPlanSamples;
import org.cloister.host.scratch.ErasureMethod;
import org.cloister.host.scratch.ScratchFileErasure;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.receipt.HostStatement;
import org.cloister.protocol.receipt.ScratchDisposal;
import org.cloister.protocol.receipt.VmEndReason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostStatementsTest {
    private static final ResourceOwner OWNER = HostStatementSamples.OWNER;
    private static final Map<VmTermination.Why, VmEndReason> ENDS = Map.ofEntries(
            Map.entry(VmTermination.Why.ASKED, VmEndReason.STOPPED),
            Map.entry(VmTermination.Why.STEP_GONE, VmEndReason.STOPPED),
            Map.entry(VmTermination.Why.DOMAIN_GONE, VmEndReason.GONE),
            Map.entry(VmTermination.Why.DIED, VmEndReason.DIED),
            Map.entry(VmTermination.Why.NOT_REGISTERED, VmEndReason.UNREGISTERED),
            Map.entry(VmTermination.Why.UNRESPONSIVE, VmEndReason.FAILED),
            Map.entry(VmTermination.Why.STOPPED, VmEndReason.FAILED),
            Map.entry(VmTermination.Why.LOST, VmEndReason.FAILED),
            Map.entry(VmTermination.Why.INTERRUPTED, VmEndReason.FAILED),
            Map.entry(VmTermination.Why.FAILED, VmEndReason.FAILED),
            Map.entry(VmTermination.Why.ORPHAN, VmEndReason.FAILED),
            Map.entry(VmTermination.Why.DRIVE_TAKEN, VmEndReason.STOPPED),
            Map.entry(VmTermination.Why.DRIVE_SILENT, VmEndReason.FAILED));

    @TempDir
    private Path folder;

    private Instant now = HostStatementSamples.NOW;
    private HostStatements parts;

    @BeforeEach
    void open() throws IOException {
        parts = HostStatements.open(folder.resolve("parts"), HostStatementSamples.KEY, () -> now);
    }

    private void run(ResourceOwner owner, long scratchMib) throws IOException {
        parts.recordStart(owner, HostStatementSamples.facts(owner, scratchMib), HostStatementSamples.TICKET);
        now = now.plusSeconds(60);
    }

    private void forget(ResourceOwner owner) {
        parts.onPass(
                List.of(new ReconcileAction.ForgetVm(owner, new VmTermination(VmTermination.Why.ASKED, "", 1))),
                false,
                List::of);
    }

    private HostStatement only() throws IOException {
        assertThat(parts.unreported()).hasSize(1);
        return HostStatementSamples.part(parts.unreported().get(0).statement());
    }

    @ParameterizedTest
    @EnumSource(VmTermination.Why.class)
    void each_end_has_its_word(VmTermination.Why why) throws IOException {
        run(OWNER, 0);
        parts.recordEnd(HostStatementSamples.entry(OWNER, VmStartStep.REGISTERED, why));
        parts.recordEnd(HostStatementSamples.entry(OWNER, VmStartStep.REGISTERED, VmTermination.Why.FAILED));
        now = now.plusSeconds(5);
        forget(OWNER);
        HostStatement part = only();
        assertThat(part.end()).isEqualTo(ENDS.get(why));
        assertThat(part.started()).isEqualTo(HostStatementSamples.NOW);
        assertThat(part.ended()).isEqualTo(HostStatementSamples.NOW.plusSeconds(60));
        assertThat(part.removed()).contains(HostStatementSamples.NOW.plusSeconds(65));
        assertThat(part.scratch()).contains(ScratchDisposal.NONE);
        assertThat(part.globalJob()).isEqualTo(OWNER.globalJob());
    }

    @Test
    void the_first_erasure_stays_and_a_later_try_claims_no_more_than_it_knows() throws IOException {
        for (Map.Entry<ScratchFileErasure, ScratchDisposal> each : Map.of(
                        new ScratchFileErasure(OWNER, ErasureMethod.OVERWRITE, 5, 5), ScratchDisposal.OVERWRITTEN,
                        new ScratchFileErasure(OWNER, ErasureMethod.OVERWRITE, 0, 0), ScratchDisposal.DISCARDED,
                        new ScratchFileErasure(OWNER, ErasureMethod.DISCARD, 5, 0), ScratchDisposal.DISCARDED)
                .entrySet()) {
            run(OWNER, 1);
            parts.onErased(each.getKey());
            parts.onErased(new ScratchFileErasure(OWNER, ErasureMethod.OVERWRITE, 0, 0));
            forget(OWNER);
            assertThat(only().scratch()).contains(each.getValue());
            assertThat(only().end()).isEqualTo(VmEndReason.GONE);
            parts.onReported(OWNER.uuid());
        }
    }

    @Test
    void what_is_not_known_is_left_out() throws IOException {
        run(OWNER, 1);
        parts.recordEnd(HostStatementSamples.entry(OWNER, VmStartStep.RUNNING, VmTermination.Why.ASKED));
        List<VmLedgerEntry> there =
                List.of(HostStatementSamples.entry(OWNER, VmStartStep.RUNNING, VmTermination.Why.ASKED));
        parts.onPass(List.of(), true, () -> there);
        now = now.plus(Duration.ofHours(1));
        parts.onPass(List.of(), false, () -> there);
        assertThat(parts.unreported()).isEmpty();
        now = now.plusSeconds(1);
        parts.onPass(List.of(), false, () -> there);
        assertThat(only().removed()).isEmpty();
        assertThat(only().scratch()).isEmpty();
        String signed = parts.unreported().get(0).envelope();
        parts.onErased(new ScratchFileErasure(OWNER, ErasureMethod.DISCARD, 5, 0));
        parts.recordEnd(HostStatementSamples.entry(OWNER, VmStartStep.RUNNING, VmTermination.Why.LOST));
        forget(OWNER);
        assertThat(parts.unreported().get(0).envelope()).isEqualTo(signed);
    }

    @Test
    void a_vm_without_an_entry_is_gone_only_when_all_could_be_seen() throws IOException {
        run(OWNER, 1);
        open();
        parts.onPass(List.of(), false, List::of);
        assertThat(parts.unreported()).isEmpty();
        parts.onPass(List.of(), true, () -> List.of(VmLedgerEntry.claim(OWNER, true, 0)));
        assertThat(parts.unreported()).isEmpty();
        parts.onPass(List.of(), true, List::of);
        assertThat(only().removed()).contains(now);
        assertThat(only().end()).isEqualTo(VmEndReason.GONE);
    }

    @Test
    void vms_that_never_ran_controlling_vms_and_strangers_have_no_part() throws IOException {
        run(OWNER, 1);
        parts.recordEnd(HostStatementSamples.entry(OWNER, VmStartStep.MOVED, VmTermination.Why.FAILED));
        ResourceOwner controller = HostStatementSamples.owner(2);
        parts.recordStart(
                controller, HostStatementSamples.facts(controller, VmRole.CONTROLLER, 1), HostStatementSamples.TICKET);
        parts.recordEnd(HostStatementSamples.entry(
                HostStatementSamples.owner(3), VmStartStep.RUNNING, VmTermination.Why.ASKED));
        parts.onErased(new ScratchFileErasure(HostStatementSamples.owner(3), ErasureMethod.DISCARD, 1, 0));
        parts.onPass(
                List.of(new ReconcileAction.ForgetVm(
                        HostStatementSamples.owner(3), new VmTermination(VmTermination.Why.ASKED, "", 1))),
                true,
                List::of);
        assertThat(parts.unreported()).isEmpty();
        try (Stream<Path> files = Files.list(folder.resolve("parts"))) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void an_orphan_of_a_lost_ledger_did_run() throws IOException {
        run(OWNER, 0);
        parts.recordEnd(HostStatementSamples.entry(OWNER, VmStartStep.CLAIMED, VmTermination.Why.ORPHAN));
        forget(OWNER);
        assertThat(only().end()).isEqualTo(VmEndReason.FAILED);
    }

    @Test
    void what_was_signed_outlives_a_restart_and_is_forgotten_when_reported_or_after_thirty_days() throws IOException {
        for (int i = 1; i <= 3; i++) {
            run(HostStatementSamples.owner(i), 0);
            forget(HostStatementSamples.owner(i));
        }
        List<String> order = parts.unreported().stream()
                .map(HostStatements.UnreportedStatement::vm)
                .toList();
        assertThat(order)
                .containsExactly(
                        HostStatementSamples.owner(1).uuid(),
                        HostStatementSamples.owner(2).uuid(),
                        HostStatementSamples.owner(3).uuid());
        open();
        assertThat(parts.unreported().stream().map(HostStatements.UnreportedStatement::vm))
                .isEqualTo(order);
        parts.onReported(order.get(1));
        open();
        assertThat(parts.unreported()).hasSize(2);
        now = HostStatementSamples.NOW.plusSeconds(60).plus(Duration.ofDays(30)).plusSeconds(1);
        parts.onPass(List.of(), true, List::of);
        open();
        assertThat(parts.unreported().stream().map(HostStatements.UnreportedStatement::vm))
                .containsExactly(order.get(2));
    }

    @Test
    void nothing_is_reported_and_no_vm_runs_that_could_not_be_written_down() throws IOException {
        run(OWNER, 1);
        Files.delete(folder.resolve("parts").resolve(OWNER.uuid() + ".json"));
        Files.delete(folder.resolve("parts"));
        ResourceOwner other = HostStatementSamples.owner(2);
        assertThatThrownBy(() -> run(other, 1)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> parts.onErased(new ScratchFileErasure(OWNER, ErasureMethod.DISCARD, 5, 0)))
                .isInstanceOf(IOException.class);
        forget(OWNER);
        assertThat(parts.unreported()).isEmpty();
        Files.createDirectory(folder.resolve("parts"));
        parts.onPass(List.of(), true, List::of);
        assertThat(only().scratch()).contains(ScratchDisposal.DISCARDED);
    }

    @Test
    void a_maker_has_it_on_disk_before_the_ledger_says_that_the_vm_runs() throws IOException {
        VmPlan plan = VmPlanSamples.full();
        VmStepRunner nothing = new VmStepRunner() {
            @Override
            public boolean isFree(VmStartStep step) {
                return step != VmStartStep.TAP;
            }

            @Override
            public void run(VmStartStep step) {}
        };
        StatementStepRunner stepRunner = new StatementStepRunner(nothing, parts, plan, HostStatementSamples.TICKET);
        assertThat(stepRunner.isFree(VmStartStep.TAP)).isFalse();
        stepRunner.run(VmStartStep.DOMAIN_PAUSED);
        forget(plan.owner());
        assertThat(parts.unreported()).isEmpty();
        stepRunner.run(VmStartStep.MOVED);
        forget(plan.owner());
        assertThat(only().facts()).isEqualTo(plan.facts());
    }

    @Test
    void a_life_is_read_as_it_was_written_in_each_of_its_states() throws Exception {
        VmHistory history = VmHistory.of(OWNER, HostStatementSamples.facts(OWNER, 1), HostStatementSamples.TICKET, now);
        VmHistory over = history.ended(now, VmEndReason.STOPPED).erased(ScratchDisposal.OVERWRITTEN);
        for (VmHistory each : List.of(history, over, over.signed(Optional.of(now), now, HostStatementSamples.KEY))) {
            assertThat(VmHistoryJson.read(VmHistoryJson.write(each))).isEqualTo(each);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "whole and more", "no size", "other name", "other member", "half"})
    void a_file_that_is_not_ours_is_refused(String what) throws IOException {
        String own = new String(
                VmHistoryJson.write(
                        VmHistory.of(OWNER, HostStatementSamples.facts(OWNER, 1), HostStatementSamples.TICKET, now)),
                StandardCharsets.UTF_8);
        String text = switch (what) {
            case "whole and more" -> own + " ".repeat(VmHistoryJson.MAX_BYTES);
            case "no size" -> own.replace("\"scratchMib\":1", "\"scratchMib\":-1");
            case "other name" ->
                own.replace(OWNER.uuid(), HostStatementSamples.owner(2).uuid());
            case "other member" -> own.replace("{\"format\"", "{\"x\":1,\"format\"");
            case "half" -> own.substring(0, own.length() / 2);
            default -> what;
        };
        assertThat(text).isNotEqualTo(own);
        Files.writeString(folder.resolve("parts").resolve(OWNER.uuid() + ".json"), text);
        assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("move the file away");
    }

    @Test
    void what_was_half_written_is_taken_away() throws IOException {
        Path half = Files.writeString(folder.resolve("parts").resolve(OWNER.uuid() + ".json.new"), "{");
        open();
        assertThat(half).doesNotExist();
    }
}
