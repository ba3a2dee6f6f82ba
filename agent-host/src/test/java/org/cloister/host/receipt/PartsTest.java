package org.cloister.host.receipt;

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
import org.cloister.host.disk.Erasing;
import org.cloister.host.disk.Erasure;
import org.cloister.host.ledger.Action;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Maker;
import org.cloister.host.ledger.Step;
import org.cloister.host.machine.PlanSamples;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.receipt.HostPart;
import org.cloister.protocol.receipt.ScratchEnd;
import org.cloister.protocol.receipt.VmEnd;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PartsTest {
    private static final VmOwner OWNER = Samples.OWNER;
    private static final Map<End.Why, VmEnd> ENDS = Map.ofEntries(
            Map.entry(End.Why.ASKED, VmEnd.STOPPED),
            Map.entry(End.Why.STEP_GONE, VmEnd.STOPPED),
            Map.entry(End.Why.DOMAIN_GONE, VmEnd.GONE),
            Map.entry(End.Why.DIED, VmEnd.DIED),
            Map.entry(End.Why.NOT_REGISTERED, VmEnd.UNREGISTERED),
            Map.entry(End.Why.STOPPED, VmEnd.FAILED),
            Map.entry(End.Why.LOST, VmEnd.FAILED),
            Map.entry(End.Why.INTERRUPTED, VmEnd.FAILED),
            Map.entry(End.Why.FAILED, VmEnd.FAILED),
            Map.entry(End.Why.ORPHAN, VmEnd.FAILED),
            Map.entry(End.Why.DRIVE_TAKEN, VmEnd.STOPPED),
            Map.entry(End.Why.DRIVE_SILENT, VmEnd.FAILED));

    @TempDir
    private Path folder;

    private Instant now = Samples.NOW;
    private Parts parts;

    @BeforeEach
    void open() throws IOException {
        parts = Parts.open(folder.resolve("parts"), Samples.KEY, () -> now);
    }

    private void run(VmOwner owner, long scratchMib) throws IOException {
        parts.running(owner, Samples.facts(owner, scratchMib), Samples.TICKET);
        now = now.plusSeconds(60);
    }

    private void forget(VmOwner owner) {
        parts.rounded(List.of(new Action.Forget(owner, new End(End.Why.ASKED, "", 1))), false, List::of);
    }

    private HostPart only() throws IOException {
        assertThat(parts.unreported()).hasSize(1);
        return Samples.part(parts.unreported().get(0).statement());
    }

    @ParameterizedTest
    @EnumSource(End.Why.class)
    void each_end_has_its_word(End.Why why) throws IOException {
        run(OWNER, 0);
        parts.ended(Samples.entry(OWNER, Step.REGISTERED, why));
        parts.ended(Samples.entry(OWNER, Step.REGISTERED, End.Why.FAILED));
        now = now.plusSeconds(5);
        forget(OWNER);
        HostPart part = only();
        assertThat(part.end()).isEqualTo(ENDS.get(why));
        assertThat(part.started()).isEqualTo(Samples.NOW);
        assertThat(part.ended()).isEqualTo(Samples.NOW.plusSeconds(60));
        assertThat(part.removed()).contains(Samples.NOW.plusSeconds(65));
        assertThat(part.scratch()).contains(ScratchEnd.NONE);
        assertThat(part.globalJob()).isEqualTo(OWNER.globalJob());
    }

    @Test
    void the_first_erasure_stays_and_a_later_try_claims_no_more_than_it_knows() throws IOException {
        for (Map.Entry<Erasure, ScratchEnd> each : Map.of(
                        new Erasure(OWNER, Erasing.OVERWRITE, 5, 5), ScratchEnd.OVERWRITTEN,
                        new Erasure(OWNER, Erasing.OVERWRITE, 0, 0), ScratchEnd.DISCARDED,
                        new Erasure(OWNER, Erasing.DISCARD, 5, 0), ScratchEnd.DISCARDED)
                .entrySet()) {
            run(OWNER, 1);
            parts.erased(each.getKey());
            parts.erased(new Erasure(OWNER, Erasing.OVERWRITE, 0, 0));
            forget(OWNER);
            assertThat(only().scratch()).contains(each.getValue());
            assertThat(only().end()).isEqualTo(VmEnd.GONE);
            parts.reported(OWNER.uuid());
        }
    }

    @Test
    void what_is_not_known_is_left_out() throws IOException {
        run(OWNER, 1);
        parts.ended(Samples.entry(OWNER, Step.RUNNING, End.Why.ASKED));
        List<Entry> there = List.of(Samples.entry(OWNER, Step.RUNNING, End.Why.ASKED));
        parts.rounded(List.of(), true, () -> there);
        now = now.plus(Duration.ofHours(1));
        parts.rounded(List.of(), false, () -> there);
        assertThat(parts.unreported()).isEmpty();
        now = now.plusSeconds(1);
        parts.rounded(List.of(), false, () -> there);
        assertThat(only().removed()).isEmpty();
        assertThat(only().scratch()).isEmpty();
        String signed = parts.unreported().get(0).envelope();
        parts.erased(new Erasure(OWNER, Erasing.DISCARD, 5, 0));
        parts.ended(Samples.entry(OWNER, Step.RUNNING, End.Why.LOST));
        forget(OWNER);
        assertThat(parts.unreported().get(0).envelope()).isEqualTo(signed);
    }

    @Test
    void a_vm_without_an_entry_is_gone_only_when_all_could_be_seen() throws IOException {
        run(OWNER, 1);
        open();
        parts.rounded(List.of(), false, List::of);
        assertThat(parts.unreported()).isEmpty();
        parts.rounded(List.of(), true, () -> List.of(Entry.claim(OWNER, true, 0)));
        assertThat(parts.unreported()).isEmpty();
        parts.rounded(List.of(), true, List::of);
        assertThat(only().removed()).contains(now);
        assertThat(only().end()).isEqualTo(VmEnd.GONE);
    }

    @Test
    void vms_that_never_ran_controlling_vms_and_strangers_have_no_part() throws IOException {
        run(OWNER, 1);
        parts.ended(Samples.entry(OWNER, Step.MOVED, End.Why.FAILED));
        VmOwner controller = Samples.owner(2);
        parts.running(controller, Samples.facts(controller, VmRole.CONTROLLER, 1), Samples.TICKET);
        parts.ended(Samples.entry(Samples.owner(3), Step.RUNNING, End.Why.ASKED));
        parts.erased(new Erasure(Samples.owner(3), Erasing.DISCARD, 1, 0));
        parts.rounded(List.of(new Action.Forget(Samples.owner(3), new End(End.Why.ASKED, "", 1))), true, List::of);
        assertThat(parts.unreported()).isEmpty();
        try (Stream<Path> files = Files.list(folder.resolve("parts"))) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void an_orphan_of_a_lost_ledger_did_run() throws IOException {
        run(OWNER, 0);
        parts.ended(Samples.entry(OWNER, Step.CLAIMED, End.Why.ORPHAN));
        forget(OWNER);
        assertThat(only().end()).isEqualTo(VmEnd.FAILED);
    }

    @Test
    void what_was_signed_outlives_a_restart_and_is_forgotten_when_reported_or_after_thirty_days() throws IOException {
        for (int i = 1; i <= 3; i++) {
            run(Samples.owner(i), 0);
            forget(Samples.owner(i));
        }
        List<String> order =
                parts.unreported().stream().map(Parts.Unreported::vm).toList();
        assertThat(order)
                .containsExactly(
                        Samples.owner(1).uuid(),
                        Samples.owner(2).uuid(),
                        Samples.owner(3).uuid());
        open();
        assertThat(parts.unreported().stream().map(Parts.Unreported::vm)).isEqualTo(order);
        parts.reported(order.get(1));
        open();
        assertThat(parts.unreported()).hasSize(2);
        now = Samples.NOW.plusSeconds(60).plus(Duration.ofDays(30)).plusSeconds(1);
        parts.rounded(List.of(), true, List::of);
        open();
        assertThat(parts.unreported().stream().map(Parts.Unreported::vm)).containsExactly(order.get(2));
    }

    @Test
    void nothing_is_reported_and_no_vm_runs_that_could_not_be_written_down() throws IOException {
        run(OWNER, 1);
        Files.delete(folder.resolve("parts").resolve(OWNER.uuid() + ".json"));
        Files.delete(folder.resolve("parts"));
        VmOwner other = Samples.owner(2);
        assertThatThrownBy(() -> run(other, 1)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> parts.erased(new Erasure(OWNER, Erasing.DISCARD, 5, 0)))
                .isInstanceOf(IOException.class);
        forget(OWNER);
        assertThat(parts.unreported()).isEmpty();
        Files.createDirectory(folder.resolve("parts"));
        parts.rounded(List.of(), true, List::of);
        assertThat(only().scratch()).contains(ScratchEnd.DISCARDED);
    }

    @Test
    void a_maker_has_it_on_disk_before_the_ledger_says_that_the_vm_runs() throws IOException {
        VmPlan plan = PlanSamples.full();
        Maker nothing = new Maker() {
            @Override
            public boolean isFree(Step step) {
                return step != Step.TAP;
            }

            @Override
            public void make(Step step) {}
        };
        PartMaker maker = new PartMaker(nothing, parts, plan, Samples.TICKET);
        assertThat(maker.isFree(Step.TAP)).isFalse();
        maker.make(Step.DOMAIN_PAUSED);
        forget(plan.owner());
        assertThat(parts.unreported()).isEmpty();
        maker.make(Step.MOVED);
        forget(plan.owner());
        assertThat(only().facts()).isEqualTo(plan.facts());
    }

    @Test
    void a_life_is_read_as_it_was_written_in_each_of_its_states() throws Exception {
        Life life = Life.of(OWNER, Samples.facts(OWNER, 1), Samples.TICKET, now);
        Life over = life.ended(now, VmEnd.STOPPED).erased(ScratchEnd.OVERWRITTEN);
        for (Life each : List.of(life, over, over.signed(Optional.of(now), now, Samples.KEY))) {
            assertThat(LifeDocument.read(LifeDocument.write(each))).isEqualTo(each);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "whole and more", "no size", "other name", "other member", "half"})
    void a_file_that_is_not_ours_is_refused(String what) throws IOException {
        String own = new String(
                LifeDocument.write(Life.of(OWNER, Samples.facts(OWNER, 1), Samples.TICKET, now)),
                StandardCharsets.UTF_8);
        String text = switch (what) {
            case "whole and more" -> own + " ".repeat(LifeDocument.MAX_BYTES);
            case "no size" -> own.replace("\"scratchMib\":1", "\"scratchMib\":-1");
            case "other name" -> own.replace(OWNER.uuid(), Samples.owner(2).uuid());
            case "other member" -> own.replace("{\"format\"", "{\"x\":1,\"format\"");
            case "half" -> own.substring(0, own.length() / 2);
            default -> what;
        };
        assertThat(text).isNotEqualTo(own);
        Files.writeString(folder.resolve("parts").resolve(OWNER.uuid() + ".json"), text);
        assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("move it away");
    }

    @Test
    void what_was_half_written_is_taken_away() throws IOException {
        Path half = Files.writeString(folder.resolve("parts").resolve(OWNER.uuid() + ".json.new"), "{");
        open();
        assertThat(half).doesNotExist();
    }
}
