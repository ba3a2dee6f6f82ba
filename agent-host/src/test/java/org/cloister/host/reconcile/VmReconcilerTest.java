package org.cloister.host.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.reconcile.VmTermination.Why;
import org.cloister.host.vm.ResourceOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VmReconcilerTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);
    private static final ResourceOwner OTHER = ResourceOwners.owner(2);
    private static final long NOW = 1_000_000;
    private static final VmLedgerEntry REGISTERED =
            VmLedgerEntry.claim(OWNER, true, 0).at(VmStartStep.REGISTERED);
    private static final VmLedgerEntry RUNNING =
            VmLedgerEntry.claim(OWNER, true, NOW - 1).at(VmStartStep.RUNNING);
    private static final VmTermination ASKED = new VmTermination(Why.ASKED, "", NOW - 1);

    private final Map<ResourceKind, SourceAnswer<HostResource>> answers = new EnumMap<>(ResourceKind.class);
    private Set<String> died = Set.of(OTHER.uuid());
    private SourceAnswer<String> inStep = new SourceAnswer.Known<>(Set.of(OWNER.uuid()));

    VmReconcilerTest() {
        for (ResourceKind part : ResourceKind.values()) {
            has(part, resource(part, OWNER));
        }
    }

    private static HostResource resource(ResourceKind part, ResourceOwner owner) {
        return new HostResource(part, part.nameOf(owner), Optional.of(owner), true);
    }

    private void has(ResourceKind part, HostResource... resources) {
        answers.put(part, new SourceAnswer.Known<>(Set.of(resources)));
    }

    private void isUnknown(ResourceKind part) {
        answers.put(part, new SourceAnswer.Unknown<>("its daemon was killed"));
    }

    private void stands() {
        has(
                ResourceKind.DOMAIN,
                new HostResource(ResourceKind.DOMAIN, ResourceKind.DOMAIN.nameOf(OWNER), Optional.of(OWNER), false));
    }

    private List<ReconcileAction> next(VmLedgerEntry... entries) {
        List<VmLedgerEntry> all = List.of(entries);
        return VmReconciler.plan(
                new VmReconciler.LedgerView(all, Set.of(), all, died),
                new ObservedState(answers, inStep),
                SimulatedDaemon.TIMES,
                NOW);
    }

    private static ReconcileAction finish(Why why, String at) {
        return new ReconcileAction.RecordEnd(OWNER, new VmTermination(why, at, NOW));
    }

    @Test
    void a_vm_that_is_all_right_is_left_alone() {
        assertThat(next(REGISTERED)).isEmpty();
        assertThat(next(RUNNING)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_part_that_is_unknown_is_not_gone(ResourceKind part) {
        isUnknown(part);
        assertThat(next(REGISTERED)).isEmpty();
        assertThat(next()).isEmpty();
    }

    @Test
    void a_vm_without_its_domain_has_ended_and_without_another_part_it_ends() {
        for (ResourceKind part : List.of(ResourceKind.OVERLAY, ResourceKind.SCRATCH, ResourceKind.TAP)) {
            has(part);
            assertThat(next(REGISTERED)).containsExactly(finish(Why.LOST, part.name()));
            has(part, resource(part, OWNER));
        }
        has(ResourceKind.DOMAIN);
        has(ResourceKind.TAP);
        assertThat(next(REGISTERED)).containsExactly(finish(Why.DOMAIN_GONE, "DOMAIN"));
        died = Set.of(OWNER.uuid());
        assertThat(next(REGISTERED)).containsExactly(finish(Why.DIED, "DOMAIN"));
    }

    @Test
    void a_vm_that_never_had_a_scratch_disk_does_not_lack_one() {
        has(ResourceKind.SCRATCH);
        assertThat(next(VmLedgerEntry.claim(OWNER, false, 0).at(VmStartStep.REGISTERED)))
                .isEmpty();
    }

    @Test
    void a_port_that_is_gone_is_made_again() {
        has(ResourceKind.PORT);
        assertThat(next(REGISTERED)).containsExactly(new ReconcileAction.RestorePort(OWNER));
    }

    @Test
    void a_vm_whose_step_has_gone_ends_and_one_whose_step_is_unknown_does_not() {
        inStep = new SourceAnswer.Known<>(Set.of(OTHER.uuid()));
        assertThat(next(REGISTERED)).containsExactly(finish(Why.STEP_GONE, ""));
        inStep = new SourceAnswer.Unknown<>("not mounted");
        assertThat(next(REGISTERED)).isEmpty();
    }

    @Test
    void a_guest_that_may_not_have_begun_is_resumed_and_one_that_had_is_ended() {
        stands();
        assertThat(next(RUNNING)).containsExactly(new ReconcileAction.Resume(OWNER));
        assertThat(next(REGISTERED)).containsExactly(finish(Why.STOPPED, ""));
    }

    @Test
    void a_guest_that_does_not_speak_in_time_ends_and_one_that_has_spoken_may_live_for_ever() {
        VmLedgerEntry late = VmLedgerEntry.claim(
                        OWNER, true, NOW - SimulatedDaemon.TIMES.register().toMillis())
                .at(VmStartStep.RUNNING);
        assertThat(next(late)).containsExactly(finish(Why.NOT_REGISTERED, ""));
        assertThat(next(late.at(VmStartStep.REGISTERED))).isEmpty();
    }

    @Test
    void what_nobody_builds_any_more_ends_and_what_is_built_is_left_alone() {
        for (VmStartStep step : EnumSet.range(VmStartStep.CLAIMED, VmStartStep.MOVED)) {
            assertThat(next(VmLedgerEntry.claim(OWNER, true, 0).at(step)))
                    .containsExactly(finish(Why.INTERRUPTED, step.name()));
        }
        VmLedgerEntry entry = VmLedgerEntry.claim(OWNER, true, 0).at(VmStartStep.TAP);
        for (VmLedgerEntry each : List.of(entry, entry.ending(ASKED))) {
            VmReconciler.LedgerView view =
                    new VmReconciler.LedgerView(List.of(each), Set.of(OWNER.uuid()), List.of(each), died);
            assertThat(VmReconciler.plan(view, new ObservedState(answers, inStep), SimulatedDaemon.TIMES, NOW))
                    .isEmpty();
        }
    }

    @Test
    void a_guest_is_asked_first_and_destroyed_when_its_time_is_over() {
        assertThat(next(REGISTERED.ending(ASKED))).containsExactly(new ReconcileAction.RequestPowerOff(OWNER));
        VmTermination before = new VmTermination(
                Why.ASKED, "", NOW - SimulatedDaemon.TIMES.powerOff().toMillis());
        assertThat(next(REGISTERED.ending(before)))
                .startsWith(
                        new ReconcileAction.DestroyDomain(OWNER),
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.PORT));
        stands();
        assertThat(next(REGISTERED.ending(ASKED)))
                .startsWith(new ReconcileAction.RemoveResource(OWNER, ResourceKind.DOMAIN));
    }

    @Test
    void a_vm_is_taken_away_in_reverse_and_its_entry_only_when_all_is_seen_to_be_gone() {
        VmLedgerEntry ending = REGISTERED.ending(new VmTermination(Why.STEP_GONE, "", NOW));
        assertThat(next(ending))
                .containsExactly(
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.DOMAIN),
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.PORT),
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.TAP),
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.SCRATCH),
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.OVERLAY));
        for (ResourceKind part : ResourceKind.values()) {
            has(part);
        }
        assertThat(next(ending))
                .containsExactly(
                        new ReconcileAction.ForgetVm(OWNER, ending.end().orElseThrow()));
        for (ResourceKind part : ResourceKind.values()) {
            isUnknown(part);
            assertThat(next(ending)).as(part + " unknown").isEmpty();
            has(part);
        }
    }

    @Test
    void nothing_goes_from_below_a_part_that_is_unknown() {
        isUnknown(ResourceKind.TAP);
        assertThat(next(REGISTERED.ending(new VmTermination(Why.STEP_GONE, "", NOW))))
                .containsExactly(
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.DOMAIN),
                        new ReconcileAction.RemoveResource(OWNER, ResourceKind.PORT));
    }

    @Test
    void a_whole_vm_without_an_entry_goes_on_and_has_its_time_to_speak_again() {
        assertThat(next())
                .containsExactly(new ReconcileAction.Adopt(
                        VmLedgerEntry.claim(OWNER, true, NOW).at(VmStartStep.RUNNING)));
    }

    @Test
    void a_vm_without_an_entry_that_is_not_whole_ends() {
        ReconcileAction end = new ReconcileAction.Adopt(
                VmLedgerEntry.claim(OWNER, true, NOW).ending(new VmTermination(Why.ORPHAN, "", NOW)));
        stands();
        assertThat(next()).containsExactly(end);
        // Somebody's copy with its metadata runs, which says nothing of this one.
        answers.put(
                ResourceKind.DOMAIN,
                new SourceAnswer.Known<>(Set.of(
                        new HostResource(
                                ResourceKind.DOMAIN, ResourceKind.DOMAIN.nameOf(OWNER), Optional.of(OWNER), false),
                        new HostResource(ResourceKind.DOMAIN, "copy", Optional.of(OWNER), true))));
        assertThat(next()).containsExactly(end);
        has(ResourceKind.DOMAIN, resource(ResourceKind.DOMAIN, OWNER));
        inStep = new SourceAnswer.Known<>(Set.of());
        assertThat(next()).containsExactly(end);
        inStep = new SourceAnswer.Known<>(Set.of(OWNER.uuid()));
        for (ResourceKind part :
                List.of(ResourceKind.OVERLAY, ResourceKind.TAP, ResourceKind.PORT, ResourceKind.DOMAIN)) {
            has(part);
            assertThat(next()).as("without " + part).containsExactly(end);
            has(part, resource(part, OWNER));
        }
    }

    @Test
    void what_was_claimed_while_the_sources_were_asked_is_no_orphan() {
        VmReconciler.LedgerView view = new VmReconciler.LedgerView(List.of(), Set.of(), List.of(REGISTERED), died);
        assertThat(VmReconciler.plan(view, new ObservedState(answers, inStep), SimulatedDaemon.TIMES, NOW))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_thing_with_anothers_mark_or_name_is_in_no_action(ResourceKind part) {
        for (ResourceKind each : ResourceKind.values()) {
            has(each);
        }
        ResourceOwner again = ResourceOwners.again(OWNER);
        ResourceOwner forged = new ResourceOwner(OWNER.project(), OWNER.ticket(), OWNER.slot(), 7, OWNER.uuid());
        VmLedgerEntry ending = REGISTERED.ending(new VmTermination(Why.STEP_GONE, "", NOW));
        Set<HostResource> others = new HashSet<>();
        others.add(new HostResource(part, "copy", Optional.of(OWNER), true));
        others.add(new HostResource(part, part.nameOf(OWNER), Optional.of(forged), true));
        for (HostResource other : others) {
            has(part, other);
            assertThat(next(ending))
                    .as(other.toString())
                    .containsExactly(
                            new ReconcileAction.ForgetVm(OWNER, ending.end().orElseThrow()));
        }
        // The remains of an earlier life of the same place are taken away as its own, not as this one's.
        has(part, new HostResource(part, part.nameOf(again), Optional.of(again), true));
        assertThat(next(ending)).doesNotContain(new ReconcileAction.RemoveResource(OWNER, part));
    }

    @Test
    void a_thing_without_a_mark_is_an_entrys_only_if_it_had_begun_to_make_it_and_no_other_lives_under_the_name() {
        has(ResourceKind.DOMAIN);
        has(ResourceKind.PORT);
        has(ResourceKind.SCRATCH);
        has(ResourceKind.OVERLAY);
        has(
                ResourceKind.TAP,
                new HostResource(ResourceKind.TAP, ResourceKind.TAP.nameOf(OWNER), Optional.empty(), true));
        VmLedgerEntry started =
                VmLedgerEntry.claim(OWNER, true, 0).at(VmStartStep.TAP).ending(ASKED);
        assertThat(next(started)).containsExactly(new ReconcileAction.RemoveResource(OWNER, ResourceKind.TAP));
        VmLedgerEntry before =
                VmLedgerEntry.claim(OWNER, true, 0).at(VmStartStep.SCRATCH).ending(ASKED);
        assertThat(next(before))
                .containsExactly(
                        new ReconcileAction.ForgetVm(OWNER, before.end().orElseThrow()));
        VmLedgerEntry running =
                VmLedgerEntry.claim(ResourceOwners.again(OWNER), true, NOW).at(VmStartStep.RUNNING);
        assertThat(next(started, running))
                .contains(new ReconcileAction.ForgetVm(OWNER, started.end().orElseThrow()))
                .doesNotContain(new ReconcileAction.RemoveResource(OWNER, ResourceKind.TAP));
        has(ResourceKind.TAP);
        has(
                ResourceKind.DOMAIN,
                new HostResource(ResourceKind.DOMAIN, ResourceKind.DOMAIN.nameOf(OWNER), Optional.empty(), true));
        assertThat(next(started.at(VmStartStep.RUNNING)))
                .containsExactly(
                        new ReconcileAction.ForgetVm(OWNER, started.end().orElseThrow()));
    }

    @Test
    void what_looks_like_ours_and_is_nobodys_is_named() {
        ResourceMatcher matching = new ResourceMatcher(
                List.of(REGISTERED),
                seenWith(new HostResource(ResourceKind.TAP, ResourceKind.TAP.nameOf(OTHER), Optional.empty(), true)));
        assertThat(matching.orphanResources(List.of(REGISTERED)))
                .hasSize(1)
                .first()
                .asString()
                .contains("no owner's mark");
        // Claimed meanwhile: it is being made.
        assertThat(matching.orphanResources(List.of(REGISTERED, VmLedgerEntry.claim(OTHER, false, NOW))))
                .isEmpty();
        matching = new ResourceMatcher(
                List.of(REGISTERED), seenWith(new HostResource(ResourceKind.TAP, "cl-copy", Optional.of(OWNER), true)));
        assertThat(matching.orphanResources(List.of(REGISTERED)))
                .hasSize(1)
                .first()
                .asString()
                .contains("whose is called");
    }

    private ObservedState seenWith(HostResource tap) {
        has(ResourceKind.TAP, resource(ResourceKind.TAP, OWNER), tap);
        return new ObservedState(answers, inStep);
    }
}
