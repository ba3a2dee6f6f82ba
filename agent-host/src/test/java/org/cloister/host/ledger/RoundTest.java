package org.cloister.host.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.cloister.host.vm.VmOwner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoundTest {
    private static final VmOwner OWNER = Owners.owner(1);

    @TempDir
    private Path folder;

    private final FakeMachine machine = new FakeMachine();

    private Daemon daemon() throws IOException {
        return new Daemon(machine, folder.resolve("ledger"));
    }

    @BeforeEach
    void leave_a_vm_behind() throws Exception {
        Daemon first = daemon();
        first.build(OWNER, true);
        machine.endJob(OWNER);
        first.ledger().close();
        machine.restarted();
    }

    @Test
    void nothing_is_taken_away_before_every_source_has_answered_once() throws Exception {
        Daemon daemon = daemon();
        for (Part part : Part.values()) {
            machine.silence(EnumSet.of(part), true);
            Round.Outcome outcome = daemon.round();
            assertThat(outcome.unheard()).contains("STEPS");
            assertThat(outcome.isClean()).isFalse();
            assertThat(outcome.done()).isEmpty();
        }
        // Each has answered now, and not one at the same time as all others.
        machine.silence(EnumSet.of(Part.OVERLAY), false);
        Round.Outcome heard = daemon.round();
        assertThat(heard.unheard()).isEmpty();
        assertThat(heard.isClean()).isFalse();
        assertThat(heard.troubles()).containsExactly("OVERLAY unknown: silent");
        assertThat(machine.of(OWNER)).extracting(Thing::part).containsExactly(Part.OVERLAY);
        machine.silence(Set.of(), false);
        assertThat(daemon.round().isClean()).isTrue();
        assertThat(machine.of(OWNER)).isEmpty();
        assertThat(daemon.entries()).isEmpty();
    }

    @Test
    void what_cannot_be_taken_away_is_told_and_what_lies_below_stays() throws Exception {
        Daemon daemon = daemon();
        machine.fail(Set.of(Part.PORT));
        Round.Outcome outcome = daemon.round();
        assertThat(outcome.isClean()).isFalse();
        assertThat(outcome.troubles()).singleElement().asString().contains("PORT does not answer");
        assertThat(machine.of(OWNER))
                .extracting(Thing::part)
                .containsExactlyInAnyOrder(Part.OVERLAY, Part.SCRATCH, Part.TAP, Part.PORT);
        machine.fail(Set.of());
        assertThat(daemon.round().isClean()).isTrue();
        assertThat(daemon.entries()).isEmpty();
    }

    @Test
    void a_vm_that_was_to_end_before_it_was_claimed_makes_no_step() throws Exception {
        Daemon daemon = daemon();
        VmOwner other = Owners.owner(2);
        assertThatThrownBy(() -> daemon.buildAsked(other))
                .isInstanceOf(BuildFailed.class)
                .hasMessageContaining("OVERLAY: want a VM that goes on, have one that is to end");
        assertThat(machine.of(other)).isEmpty();
        assertThat(daemon.round().isClean()).isTrue();
    }

    @Test
    void a_vm_that_is_to_end_while_it_is_built_makes_no_further_step() throws Exception {
        Daemon daemon = daemon();
        VmOwner other = Owners.owner(2);
        Maker maker = machine.maker(other);
        assertThatThrownBy(() -> daemon.build(other, false, new Maker() {
                    @Override
                    public boolean isFree(Step step) throws IOException {
                        return maker.isFree(step);
                    }

                    @Override
                    public void make(Step step) throws IOException {
                        maker.make(step);
                        if (step == Step.PORT) {
                            daemon.ask(other);
                            // It is left alone as long as somebody builds it.
                            assertThat(daemon.round().done())
                                    .extracting(Action::owner)
                                    .doesNotContain(other);
                        }
                    }
                }))
                .isInstanceOf(BuildFailed.class)
                .hasMessageContaining("DOMAIN_PAUSED: want a VM that goes on, have one that is to end");
        assertThat(machine.of(other)).extracting(Thing::part).doesNotContain(Part.DOMAIN);
        assertThat(daemon.round().isClean()).isTrue();
        assertThat(machine.all()).isEmpty();
    }

    @Test
    void the_next_round_is_due_when_a_guest_has_to_have_spoken_or_powered_off() throws Exception {
        Daemon daemon = daemon();
        daemon.round();
        assertThat(daemon.round().nextMs()).isEmpty();
        VmOwner other = Owners.owner(2);
        daemon.build(other, false);
        long claimed = daemon.entries().get(0).claimedMs();
        assertThat(daemon.round().nextMs())
                .hasValue(claimed + Daemon.TIMES.register().toMillis());
        daemon.register(other);
        assertThat(daemon.round().nextMs()).isEmpty();
        daemon.ask(other);
        assertThat(daemon.round().nextMs())
                .hasValue(claimed + Daemon.TIMES.powerOff().toMillis());
        assertThat(machine.wasAsked(other)).isTrue();
        daemon.pass(Daemon.TIMES.powerOff());
        assertThat(daemon.round().nextMs()).isEmpty();
        assertThat(machine.all()).isEmpty();
    }
}
