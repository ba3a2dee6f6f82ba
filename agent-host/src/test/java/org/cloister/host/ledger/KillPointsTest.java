package org.cloister.host.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.vm.VmOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon is killed at every point, before, amid and after each effect, and at every point again while it mends. */
class KillPointsTest {
    private static final VmOwner FIRST = Owners.owner(1);
    private static final VmOwner SECOND = Owners.owner(2);

    @TempDir(factory = InMemory.class)
    private Path folder;

    private int files;

    /** What is done to a daemon until it is killed, or not. */
    private interface Story {
        void tell(Daemon daemon, FakeMachine machine) throws Exception;
    }

    /** How the process ends. */
    private enum Death {
        LEDGER_WHOLE,
        LAST_LINE_CUT,
        LEDGER_LOST
    }

    private static void up(Daemon daemon, FakeMachine machine) throws Exception {
        daemon.build(FIRST, true);
        daemon.register(FIRST);
        daemon.build(SECOND, false);
        machine.askOff(FIRST);
    }

    private static void down(Daemon daemon, FakeMachine machine) throws Exception {
        up(daemon, machine);
        daemon.round();
        daemon.ask(FIRST);
        machine.endJob(SECOND);
        daemon.round();
        daemon.pass(Daemon.TIMES.powerOff());
        daemon.round();
    }

    private static void failing(Daemon daemon, FakeMachine machine) throws Exception {
        daemon.build(SECOND, false);
        machine.fail(Set.of(Part.DOMAIN));
        try {
            daemon.build(FIRST, true);
        } catch (BuildFailed e) {
            assertThat(e.step()).isEqualTo(Step.DOMAIN_PAUSED);
        }
        machine.fail(Set.of());
        daemon.round();
    }

    @Test
    void a_vm_on_its_way_up_is_all_gone_or_all_right() throws Exception {
        assertThat(sweep(KillPointsTest::up)).isGreaterThan(25);
    }

    @Test
    void a_vm_on_its_way_down_is_all_gone() throws Exception {
        assertThat(sweep(KillPointsTest::down)).isGreaterThan(40);
    }

    @Test
    void a_vm_whose_domain_does_not_start_is_all_gone() throws Exception {
        assertThat(sweep(KillPointsTest::failing)).isGreaterThan(25);
    }

    /** @return points */
    private int sweep(Story story) throws Exception {
        FakeMachine whole = new FakeMachine();
        Daemon unharmed = new Daemon(whole, fresh());
        story.tell(unharmed, whole);
        unharmed.ledger().close();
        int points = whole.points();
        for (int point = 1; point <= points; point++) {
            for (Death death : Death.values()) {
                int mending = killOnce(story, point, death, Integer.MAX_VALUE);
                for (int second = 1; second <= mending; second++) {
                    killOnce(story, point, death, second);
                }
            }
        }
        return points;
    }

    private Path fresh() {
        return folder.resolve("ledger" + files++);
    }

    /** @return points of the mending */
    private int killOnce(Story story, int point, Death death, int second) throws Exception {
        FakeMachine machine = new FakeMachine();
        List<Thing> foreign = foreign();
        foreign.forEach(machine::put);
        Path file = fresh();
        Daemon daemon = new Daemon(machine, file);
        machine.killAt(point);
        String where = "";
        try {
            story.tell(daemon, machine);
        } catch (Killed e) {
            where = "killed " + e.getMessage() + " (" + point + "), " + death;
            daemon.restart(e, death == Death.LAST_LINE_CUT, death == Death.LEDGER_LOST);
        }
        assertThat(where).isNotEmpty();
        machine.killAt(second);
        try {
            daemon.round();
        } catch (Killed e) {
            where += ", and " + e.getMessage();
            daemon.restart(e, false, false);
        }
        int mending = machine.points();
        Round.Outcome outcome = settle(daemon, machine);
        check(where, daemon, machine, outcome, FIRST, true);
        check(where, daemon, machine, outcome, SECOND, false);
        assertThat(machine.all()).as(where).containsAll(foreign);
        daemon.ledger().close();
        Files.delete(file);
        Files.delete(file.resolveSibling(file.getFileName() + ".lock"));
        return mending;
    }

    private static Round.Outcome settle(Daemon daemon, FakeMachine machine) {
        machine.restarted();
        machine.fail(Set.of());
        daemon.round();
        daemon.pass(Daemon.TIMES.powerOff().plus(Duration.ofSeconds(1)));
        return daemon.round();
    }

    private static void check(
            String where, Daemon daemon, FakeMachine machine, Round.Outcome outcome, VmOwner owner, boolean scratch) {
        assertThat(outcome.isClean()).as(where + ": " + outcome).isTrue();
        Optional<Entry> entry = daemon.ledger().entry(owner.uuid());
        if (entry.isPresent()) {
            assertThat(entry.get().isEnding()).as(where + ": " + entry).isFalse();
            assertThat(machine.isRight(owner, scratch))
                    .as(where + ": right: " + machine.of(owner))
                    .isTrue();
            return;
        }
        // A tap or folder that has neither mark nor ledger could be anybody's: it is named for people.
        List<String> strays = outcome.strays().stream().map(Stray::name).toList();
        assertThat(machine.of(owner))
                .as(where)
                .allMatch(thing -> thing.owner().isEmpty() && strays.contains(thing.name()));
        if (!where.contains("LEDGER_LOST")) {
            assertThat(machine.of(owner)).as(where).isEmpty();
        }
    }

    /** A guest that had begun, with nobody's wish that it ends, has to be there in the end. */
    @Test
    void a_guest_that_runs_goes_on_wherever_the_daemon_dies() throws Exception {
        for (Death death : Death.values()) {
            for (int point = 1; point <= 12; point++) {
                FakeMachine machine = new FakeMachine();
                Daemon daemon = new Daemon(machine, fresh());
                daemon.build(FIRST, true);
                daemon.register(FIRST);
                machine.killAt(point);
                try {
                    daemon.build(SECOND, false);
                } catch (Killed e) {
                    daemon.restart(e, death == Death.LAST_LINE_CUT, death == Death.LEDGER_LOST);
                }
                settle(daemon, machine);
                assertThat(machine.isRight(FIRST, true)).isTrue();
                assertThat(daemon.isEnding(FIRST)).isFalse();
                assertThat(machine.isRight(SECOND, false)).isEqualTo(machine.hasBegun(SECOND));
                daemon.ledger().close();
            }
        }
    }

    private static List<Thing> foreign() {
        return List.of(
                new Thing(Part.DOMAIN, "web", Optional.empty(), true),
                // Somebody made a copy of a domain of ours, with its metadata.
                new Thing(Part.DOMAIN, "copy", Optional.of(FIRST), true),
                new Thing(Part.TAP, "cl-otherbb0", Optional.empty(), true),
                new Thing(Part.OVERLAY, "lost+found", Optional.empty(), true));
    }

    @Test
    void a_name_that_something_else_has_is_refused_and_the_other_stays() throws IOException, ClaimRefused {
        for (Part part : Part.values()) {
            FakeMachine machine = new FakeMachine();
            Thing other = new Thing(part, part.nameOf(FIRST), Optional.empty(), true);
            machine.put(other);
            Daemon daemon = new Daemon(machine, fresh());
            try {
                daemon.build(FIRST, true);
                throw new AssertionError("built over " + other);
            } catch (BuildFailed e) {
                assertThat(e).hasMessageContaining("want a name of its own");
            }
            daemon.round();
            assertThat(machine.all()).containsExactly(other);
            assertThat(daemon.entries()).isEmpty();
            daemon.ledger().close();
        }
    }
}
