package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.host.CgroupJobStep;
import org.cloister.lab.host.HostVmPlans;
import org.cloister.lab.site.HostInventory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A host's agent is killed at every step of its ledger, up and down, and while it mends, with the real libvirtd, QEMU and Open
 * vSwitch: the next one has everything gone or everything right, from what is on the host alone. How long it took is printed.
 */
@Tag("scenario")
@Tag("host")
@Timeout(900)
@ExtendWith(SharedLab.class)
class HostSweepTest {
    private static final Duration POWER_OFF = Duration.ofMillis(500);
    /** Ends a start that hangs. How long starts take is printed, for it depends on what else the machine does. */
    private static final long MOST_MS = 60_000;

    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final Set<String> GONE = Set.of();

    private final LabHost host;
    private final HostInventory inventory;
    private final List<Long> settledMs = new ArrayList<>();
    private HostProcess agent;
    private int number;
    private int kills;

    HostSweepTest(Lab lab) throws IOException {
        host = lab.host(1);
        inventory = new HostInventory(host);
    }

    @BeforeEach
    void setUp() throws IOException {
        inventory.createForeignObjects();
        agent = HostProcess.start(host, POWER_OFF, "");
        agent.await("settled 0");
    }

    @AfterEach
    void tearDown() throws IOException {
        agent.close();
        inventory.close();
    }

    @Test
    @RotatedScenario(6)
    void a_vm_on_its_way_up_is_all_gone_or_all_right_wherever_the_agent_is_killed() throws IOException {
        int right = 0;
        for (String point : KillPoints.up()) {
            try (CgroupJobStep step = next()) {
                ResourceOwner owner = HostVmPlans.owner(number, step.job());
                agent.send("halt " + point);
                agent.send("build " + number + " " + step.pid());
                agent.await("halted " + point);
                kill();
                // What is in the ledger as begun to run may have run.
                boolean hasStarted = List.of("before " + VmStartStep.RUNNING, "after " + VmStartStep.RUNNING)
                        .contains(point);
                mend(hasStarted ? 1 : 0);
                if (hasStarted) {
                    check(point, owner, HostInventory.completeVm());
                    assertThat(step.otherProcesses()).as(point).isEqualTo(1);
                    right++;
                    step.stop();
                    agent.await("settled 0");
                }
                checkGone(point, owner);
            }
        }
        report("up: " + kills + " kills, " + right + " VMs right, " + (kills - right) + " gone");
    }

    @Test
    @RotatedScenario(8)
    void a_vm_that_is_to_end_is_all_gone_wherever_the_agent_is_killed() throws IOException {
        List<String> points = new ArrayList<>(KillPoints.both("askOff"));
        points.addAll(KillPoints.down());
        for (String point : points) {
            try (CgroupJobStep step = next()) {
                ResourceOwner owner = build(step);
                agent.send("register " + number);
                agent.await("registered");
                agent.send("halt " + point);
                agent.send("end " + number);
                agent.await("halted " + point);
                kill();
                mend(0);
                checkGone(point, owner);
            }
        }
        report("down, asked: " + kills + " kills, all gone");
    }

    @Test
    @RotatedScenario(10)
    void a_vm_whose_step_has_ended_is_all_gone_wherever_the_agent_is_killed() throws IOException {
        // The domain has gone with its step, by Slurm's hand.
        for (String point : KillPoints.down().stream()
                .filter(each -> !each.endsWith("DOMAIN"))
                .toList()) {
            try (CgroupJobStep step = next()) {
                ResourceOwner owner = build(step);
                agent.send("halt " + point);
                step.stop();
                agent.await("halted " + point);
                kill();
                mend(0);
                checkGone(point, owner);
            }
        }
        report("down, step ended: " + kills + " kills, all gone");
    }

    @Test
    @RotatedScenario(9)
    void an_agent_that_is_killed_again_and_again_while_it_mends_comes_to_an_end() throws IOException {
        try (CgroupJobStep step = next()) {
            ResourceOwner owner = halfBuilt(step, "before " + VmStartStep.MOVED);
            for (String point : KillPoints.down()) {
                agent = HostProcess.start(host, POWER_OFF, point);
                agent.await("halted " + point);
                kill();
            }
            mend(0);
            checkGone("each removal", owner);
        }
        try (CgroupJobStep step = next()) {
            ResourceOwner owner = halfBuilt(step, "before " + VmStartStep.RUNNING);
            for (String point : KillPoints.both("resume")) {
                agent = HostProcess.start(host, POWER_OFF, point);
                agent.await("halted " + point);
                kill();
            }
            host.ovs().vsctl("del-port", "br-secure", owner.names().tap());
            for (String point : KillPoints.both("reopen")) {
                agent = HostProcess.start(host, POWER_OFF, point);
                agent.await("halted " + point);
                kill();
            }
            mend(1);
            check("resumed, and its port opened again", owner, HostInventory.completeVm());
            step.stop();
            agent.await("settled 0");
            checkGone("its step's end", owner);
        }
        report("mending: " + kills + " kills");
    }

    @Test
    void without_its_ledger_an_agent_takes_up_whole_vms_and_takes_others_away() throws IOException {
        try (CgroupJobStep whole = next()) {
            ResourceOwner owner = build(whole);
            try (CgroupJobStep half = next()) {
                ResourceOwner other = halfBuilt(half, "after " + VmStartStep.DOMAIN_PAUSED);
                Files.delete(AgentHostFiles.state(host).resolve("ledger"));
                mend(1);
                check("whole", owner, HostInventory.completeVm());
                check("half", other, GONE);
            }
            whole.stop();
            agent.await("settled 0");
            checkGone("its step's end", owner);
        }
        report("ledger lost: " + kills + " kills");
    }

    /** A job of its own for every VM. */
    private CgroupJobStep next() throws IOException {
        number = NUMBERS.incrementAndGet();
        return CgroupJobStep.start(host, number);
    }

    private ResourceOwner build(CgroupJobStep step) throws IOException {
        agent.send("build " + number + " " + step.pid());
        agent.await("built ");
        return HostVmPlans.owner(number, step.job());
    }

    private ResourceOwner halfBuilt(CgroupJobStep step, String point) throws IOException {
        agent.send("halt " + point);
        agent.send("build " + number + " " + step.pid());
        agent.await("halted " + point);
        kill();
        return HostVmPlans.owner(number, step.job());
    }

    private void kill() throws IOException {
        agent.kill();
        kills++;
    }

    /** @param vms that go on */
    private void mend(int vms) throws IOException {
        agent = HostProcess.start(host, POWER_OFF, "");
        String[] words = agent.await("settled " + vms + " after ").split(" ", -1);
        long ms = Long.parseLong(words[0]);
        settledMs.add(ms);
        assertThat(ms).isLessThanOrEqualTo(MOST_MS);
        assertThat(words[2]).as("strays").isEqualTo(Integer.toString(HostInventory.ORPHANS));
    }

    private void check(String point, ResourceOwner owner, Set<String> want) throws IOException {
        assertThat(inventory.of(owner)).as(point).isEqualTo(want);
        assertThat(inventory.bridgeDifferences()).as(point).isEmpty();
        assertThat(inventory.isForeignThere()).as(point).isTrue();
    }

    /** It was the only one. */
    private void checkGone(String point, ResourceOwner owner) throws IOException {
        check(point, owner, GONE);
        assertThat(inventory.all()).as(point).isEmpty();
    }

    private void report(String what) {
        List<Long> sorted = settledMs.stream().sorted().toList();
        long half = sorted.get(sorted.size() / 2);
        System.out.println("host sweep: " + what + "; from start to settled, ms: p50 " + half + ", most "
                + sorted.get(sorted.size() - 1));
    }
}
