package org.cloister.host.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.cloister.host.vm.ResourceOwner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReconcilePassTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);

    @TempDir
    private Path folder;

    private final FakeHostBackend machine = new FakeHostBackend();

    private SimulatedDaemon daemon() throws IOException {
        return new SimulatedDaemon(machine, folder.resolve("ledger"));
    }

    @BeforeEach
    void leave_a_vm_behind() throws Exception {
        SimulatedDaemon first = daemon();
        first.build(OWNER, true);
        machine.endJob(OWNER);
        first.ledger().close();
        machine.restarted();
    }

    @Test
    void nothing_is_taken_away_before_every_source_has_answered_once() throws Exception {
        SimulatedDaemon daemon = daemon();
        for (ResourceKind part : ResourceKind.values()) {
            machine.switchOff(EnumSet.of(part), true);
            ReconcilePass.Outcome outcome = daemon.runPass();
            assertThat(outcome.neverAnswered()).contains("STEPS");
            assertThat(outcome.isClean()).isFalse();
            assertThat(outcome.done()).isEmpty();
        }
        // Each has answered now, and not one at the same time as all others.
        machine.switchOff(EnumSet.of(ResourceKind.OVERLAY), false);
        ReconcilePass.Outcome answered = daemon.runPass();
        assertThat(answered.neverAnswered()).isEmpty();
        assertThat(answered.isClean()).isFalse();
        assertThat(answered.problems()).containsExactly("OVERLAY unknown: silent");
        assertThat(machine.of(OWNER)).extracting(HostResource::kind).containsExactly(ResourceKind.OVERLAY);
        machine.switchOff(Set.of(), false);
        assertThat(daemon.runPass().isClean()).isTrue();
        assertThat(machine.of(OWNER)).isEmpty();
        assertThat(daemon.entries()).isEmpty();
    }

    @Test
    void what_cannot_be_taken_away_is_told_and_what_lies_below_stays() throws Exception {
        SimulatedDaemon daemon = daemon();
        machine.fail(Set.of(ResourceKind.PORT));
        ReconcilePass.Outcome outcome = daemon.runPass();
        assertThat(outcome.isClean()).isFalse();
        assertThat(outcome.problems()).singleElement().asString().contains("PORT does not answer");
        assertThat(machine.of(OWNER))
                .extracting(HostResource::kind)
                .containsExactlyInAnyOrder(
                        ResourceKind.OVERLAY, ResourceKind.SCRATCH, ResourceKind.TAP, ResourceKind.PORT);
        machine.fail(Set.of());
        assertThat(daemon.runPass().isClean()).isTrue();
        assertThat(daemon.entries()).isEmpty();
    }

    @Test
    void a_vm_that_was_to_end_before_it_was_claimed_makes_no_step() throws Exception {
        SimulatedDaemon daemon = daemon();
        ResourceOwner other = ResourceOwners.owner(2);
        assertThatThrownBy(() -> daemon.buildEnding(other))
                .isInstanceOf(VmBuildFailed.class)
                .hasMessageContaining("OVERLAY: the VM is ending");
        assertThat(machine.of(other)).isEmpty();
        assertThat(daemon.runPass().isClean()).isTrue();
    }

    @Test
    void a_vm_that_is_to_end_while_it_is_built_makes_no_further_step() throws Exception {
        SimulatedDaemon daemon = daemon();
        ResourceOwner other = ResourceOwners.owner(2);
        VmStepRunner stepRunner = machine.stepRunner(other);
        assertThatThrownBy(() -> daemon.build(other, false, new VmStepRunner() {
                    @Override
                    public boolean isFree(VmStartStep step) throws IOException {
                        return stepRunner.isFree(step);
                    }

                    @Override
                    public void run(VmStartStep step) throws IOException {
                        stepRunner.run(step);
                        if (step == VmStartStep.PORT) {
                            daemon.ask(other);
                            // It is left alone as long as somebody builds it.
                            assertThat(daemon.runPass().done())
                                    .extracting(ReconcileAction::owner)
                                    .doesNotContain(other);
                        }
                    }
                }))
                .isInstanceOf(VmBuildFailed.class)
                .hasMessageContaining("DOMAIN_PAUSED: the VM is ending");
        assertThat(machine.of(other)).extracting(HostResource::kind).doesNotContain(ResourceKind.DOMAIN);
        assertThat(daemon.runPass().isClean()).isTrue();
        assertThat(machine.all()).isEmpty();
    }

    @Test
    void the_next_round_is_due_when_a_guest_has_to_have_spoken_or_powered_off() throws Exception {
        SimulatedDaemon daemon = daemon();
        daemon.runPass();
        assertThat(daemon.runPass().nextMs()).isEmpty();
        ResourceOwner other = ResourceOwners.owner(2);
        daemon.build(other, false);
        long claimed = daemon.entries().get(0).claimedMs();
        assertThat(daemon.runPass().nextMs())
                .hasValue(claimed + SimulatedDaemon.TIMES.register().toMillis());
        daemon.register(other);
        assertThat(daemon.runPass().nextMs()).isEmpty();
        daemon.ask(other);
        assertThat(daemon.runPass().nextMs())
                .hasValue(claimed + SimulatedDaemon.TIMES.powerOff().toMillis());
        assertThat(machine.wasAsked(other)).isTrue();
        daemon.pass(SimulatedDaemon.TIMES.powerOff());
        assertThat(daemon.runPass().nextMs()).isEmpty();
        assertThat(machine.all()).isEmpty();
    }
}
