package org.cloister.host.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon is killed at every point, before, amid and after each effect, and at every point again while it mends. */
class HostKillPointsTest {
    private static final ResourceOwner FIRST = ResourceOwners.owner(1);
    private static final ResourceOwner SECOND = ResourceOwners.owner(2);

    @TempDir(factory = InMemoryFolder.class)
    private Path folder;

    private int files;

    /** Operations on a daemon until it is killed, or not. */
    private interface Scenario {
        void tell(SimulatedDaemon daemon, FakeHostBackend machine) throws Exception;
    }

    /** Way in which the process ends. */
    private enum ProcessEnd {
        LEDGER_WHOLE,
        LAST_LINE_TRUNCATED,
        LEDGER_LOST
    }

    private static void up(SimulatedDaemon daemon, FakeHostBackend machine) throws Exception {
        daemon.build(FIRST, true);
        daemon.register(FIRST);
        daemon.build(SECOND, false);
        machine.requestPowerOff(FIRST);
    }

    private static void down(SimulatedDaemon daemon, FakeHostBackend machine) throws Exception {
        up(daemon, machine);
        daemon.runPass();
        daemon.ask(FIRST);
        machine.endJob(SECOND);
        daemon.runPass();
        daemon.pass(SimulatedDaemon.TIMES.powerOff());
        daemon.runPass();
    }

    private static void failing(SimulatedDaemon daemon, FakeHostBackend machine) throws Exception {
        daemon.build(SECOND, false);
        machine.fail(Set.of(ResourceKind.DOMAIN));
        try {
            daemon.build(FIRST, true);
        } catch (VmBuildFailed e) {
            assertThat(e.step()).isEqualTo(VmStartStep.DOMAIN_PAUSED);
        }
        machine.fail(Set.of());
        daemon.runPass();
    }

    @Test
    void a_vm_on_its_way_up_is_all_gone_or_all_right() throws Exception {
        assertThat(sweep(HostKillPointsTest::up)).isGreaterThan(25);
    }

    @Test
    void a_vm_on_its_way_down_is_all_gone() throws Exception {
        assertThat(sweep(HostKillPointsTest::down)).isGreaterThan(40);
    }

    @Test
    void a_vm_whose_domain_does_not_start_is_all_gone() throws Exception {
        assertThat(sweep(HostKillPointsTest::failing)).isGreaterThan(25);
    }

    /** @return points */
    private int sweep(Scenario scenario) throws Exception {
        FakeHostBackend whole = new FakeHostBackend();
        SimulatedDaemon unharmed = new SimulatedDaemon(whole, fresh());
        scenario.tell(unharmed, whole);
        unharmed.ledger().close();
        int points = whole.points();
        for (int point = 1; point <= points; point++) {
            for (ProcessEnd death : ProcessEnd.values()) {
                int mending = killOnce(scenario, point, death, Integer.MAX_VALUE);
                for (int second = 1; second <= mending; second++) {
                    killOnce(scenario, point, death, second);
                }
            }
        }
        return points;
    }

    private Path fresh() {
        return folder.resolve("ledger" + files++);
    }

    /** @return points of the mending */
    private int killOnce(Scenario scenario, int point, ProcessEnd death, int second) throws Exception {
        FakeHostBackend machine = new FakeHostBackend();
        List<HostResource> foreign = foreign();
        foreign.forEach(machine::put);
        Path file = fresh();
        SimulatedDaemon daemon = new SimulatedDaemon(machine, file);
        machine.killAt(point);
        String where = "";
        try {
            scenario.tell(daemon, machine);
        } catch (SimulatedKill e) {
            where = "killed " + e.getMessage() + " (" + point + "), " + death;
            daemon.restart(e, death == ProcessEnd.LAST_LINE_TRUNCATED, death == ProcessEnd.LEDGER_LOST);
        }
        assertThat(where).isNotEmpty();
        machine.killAt(second);
        try {
            daemon.runPass();
        } catch (SimulatedKill e) {
            where += ", and " + e.getMessage();
            daemon.restart(e, false, false);
        }
        int mending = machine.points();
        ReconcilePass.Outcome outcome = settle(daemon, machine);
        check(where, daemon, machine, outcome, FIRST, true);
        check(where, daemon, machine, outcome, SECOND, false);
        assertThat(machine.all()).as(where).containsAll(foreign);
        daemon.ledger().close();
        Files.delete(file);
        Files.delete(file.resolveSibling(file.getFileName() + ".lock"));
        return mending;
    }

    private static ReconcilePass.Outcome settle(SimulatedDaemon daemon, FakeHostBackend machine) {
        machine.restarted();
        machine.fail(Set.of());
        daemon.runPass();
        daemon.pass(SimulatedDaemon.TIMES.powerOff().plus(Duration.ofSeconds(1)));
        return daemon.runPass();
    }

    private static void check(
            String where,
            SimulatedDaemon daemon,
            FakeHostBackend machine,
            ReconcilePass.Outcome outcome,
            ResourceOwner owner,
            boolean scratch) {
        assertThat(outcome.isClean()).as(where + ": " + outcome).isTrue();
        Optional<VmLedgerEntry> entry = daemon.ledger().entry(owner.uuid());
        if (entry.isPresent()) {
            assertThat(entry.get().isEnding()).as(where + ": " + entry).isFalse();
            assertThat(machine.isRight(owner, scratch))
                    .as(where + ": right: " + machine.of(owner))
                    .isTrue();
            return;
        }
        // A tap or folder that has neither mark nor ledger could be anybody's: it is named for people.
        List<String> orphans =
                outcome.orphans().stream().map(OrphanResource::name).toList();
        assertThat(machine.of(owner))
                .as(where)
                .allMatch(resource -> resource.owner().isEmpty() && orphans.contains(resource.name()));
        if (!where.contains("LEDGER_LOST")) {
            assertThat(machine.of(owner)).as(where).isEmpty();
        }
    }

    /** A guest that had begun, with nobody's wish that it ends, has to be there in the end. */
    @Test
    void a_guest_that_runs_goes_on_wherever_the_daemon_dies() throws Exception {
        for (ProcessEnd death : ProcessEnd.values()) {
            for (int point = 1; point <= 12; point++) {
                FakeHostBackend machine = new FakeHostBackend();
                SimulatedDaemon daemon = new SimulatedDaemon(machine, fresh());
                daemon.build(FIRST, true);
                daemon.register(FIRST);
                machine.killAt(point);
                try {
                    daemon.build(SECOND, false);
                } catch (SimulatedKill e) {
                    daemon.restart(e, death == ProcessEnd.LAST_LINE_TRUNCATED, death == ProcessEnd.LEDGER_LOST);
                }
                settle(daemon, machine);
                assertThat(machine.isRight(FIRST, true)).isTrue();
                assertThat(daemon.isEnding(FIRST)).isFalse();
                assertThat(machine.isRight(SECOND, false)).isEqualTo(machine.hasBegun(SECOND));
                daemon.ledger().close();
            }
        }
    }

    private static List<HostResource> foreign() {
        return List.of(
                new HostResource(ResourceKind.DOMAIN, "web", Optional.empty(), true),
                // Somebody made a copy of a domain of ours, with its metadata.
                new HostResource(ResourceKind.DOMAIN, "copy", Optional.of(FIRST), true),
                new HostResource(ResourceKind.TAP, "cl-otherbb0", Optional.empty(), true),
                new HostResource(ResourceKind.OVERLAY, "lost+found", Optional.empty(), true));
    }

    @Test
    void a_name_that_something_else_has_is_refused_and_the_other_stays() throws IOException, StartFailed {
        for (ResourceKind part : ResourceKind.values()) {
            FakeHostBackend machine = new FakeHostBackend();
            HostResource other = new HostResource(part, part.nameOf(FIRST), Optional.empty(), true);
            machine.put(other);
            SimulatedDaemon daemon = new SimulatedDaemon(machine, fresh());
            try {
                daemon.build(FIRST, true);
                throw new AssertionError("built over " + other);
            } catch (VmBuildFailed e) {
                assertThat(e).hasMessageContaining("has the name already");
            }
            daemon.runPass();
            assertThat(machine.all()).containsExactly(other);
            assertThat(daemon.entries()).isEmpty();
            daemon.ledger().close();
        }
    }
}
