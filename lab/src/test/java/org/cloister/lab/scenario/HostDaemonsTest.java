package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
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
 * libvirtd, vswitchd and a host's agent are killed at random moments of a VM's way up and down and started again, 20 times
 * ({@code sweep.all}: 200): each VM is then all right, or all gone; {@code CLOISTER_SEED} repeats.
 */
@Tag("scenario")
@Tag("host")
@Timeout(3600)
@ExtendWith(SharedLab.class)
class HostDaemonsTest {
    private static final Duration POWER_OFF = Duration.ofMillis(500);
    /** Longer than a VM is on its way up or down. */
    private static final int SPAN_MS = 1500;

    private static final Duration FLOWS_LIMIT = Duration.ofSeconds(30);
    private static final int FIRST = 20_000;

    private static final List<Victim> VICTIMS = List.of(Victim.values());

    private final LabHost host;
    private final int rounds = Boolean.getBoolean("cloister.sweep.all") ? 200 : 20;
    private final Map<String, Integer> counts = new TreeMap<>();
    private final HostInventory inventory;
    private HostProcess agent;

    HostDaemonsTest(Lab lab) throws IOException {
        host = lab.host(1);
        inventory = new HostInventory(host);
    }

    private enum Victim {
        LIBVIRTD,
        VSWITCHD,
        AGENT
    }

    /** @param up whether the kill comes while the VM is made; else while it is taken away */
    private record Kill(Victim victim, boolean up, int delayMs) {
        static Kill draw(Random random) {
            return new Kill(VICTIMS.get(random.nextInt(VICTIMS.size())), random.nextBoolean(), random.nextInt(SPAN_MS));
        }
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
    @RotatedScenario(9)
    void a_vm_is_all_right_or_all_gone_whoever_is_killed_whenever() throws IOException {
        Random random = new Random(ScenarioSeed.of("HostDaemonsTest"));
        for (int number = FIRST; number < FIRST + rounds; number++) {
            Kill kill = Kill.draw(random);
            try (CgroupJobStep step = CgroupJobStep.start(host, number)) {
                oneVm(number, step, kill);
            } catch (AssertionError | IOException e) {
                throw new AssertionError(kill.toString(), e);
            }
            assertThat(inventory.all()).as(kill.toString()).isEmpty();
            // A vswitchd that has just started has no flows, and forwards nothing, until the agent has laid them.
            Poll.until(
                    kill + ": flows",
                    FLOWS_LIMIT,
                    "ovs-ofctl dump-flows",
                    () -> inventory.bridgeDifferences().isEmpty());
            assertThat(inventory.isForeignThere()).as(kill.toString()).isTrue();
        }
        System.out.println("host daemons: " + rounds + " kills: " + counts);
    }

    private void oneVm(int number, CgroupJobStep step, Kill kill) throws IOException {
        ResourceOwner owner = HostVmPlans.owner(number, number);
        agent.send("build " + number + " " + step.pid());
        boolean built = kill.up() ? isBuiltDespite(kill) : isBuilt();
        counts.merge(
                (kill.up() ? "up " : "down ") + kill.victim() + (built ? " built" : " not built"), 1, Integer::sum);
        if (!built) {
            agent.await("settled 0");
            return;
        }
        agent.send("register " + number);
        agent.await("registered");
        if (kill.up()) {
            // A round that begins now sees what there is after the kill.
            agent.send("ring");
            agent.await("settled 1");
            assertThat(inventory.of(owner)).isEqualTo(HostInventory.completeVm());
        }
        agent.send("end " + number);
        if (!kill.up()) {
            strike(kill);
        }
        agent.await("settled 0");
    }

    private boolean isBuiltDespite(Kill kill) throws IOException {
        strike(kill);
        if (kill.victim() != Victim.AGENT) {
            return isBuilt();
        }
        boolean goesOn = agent.await("settled ").startsWith("1");
        agent.send("ring");
        return goesOn;
    }

    private boolean isBuilt() throws IOException {
        return agent.await(List.of("built ", "failed ")).startsWith("built ");
    }

    private void strike(Kill kill) throws IOException {
        BridgeFixture.sleep(kill.delayMs());
        switch (kill.victim()) {
            case LIBVIRTD -> {
                host.libvirt().kill();
                host.libvirt().start(host.ovs());
            }
            case VSWITCHD -> {
                host.ovs().kill("ovs-vswitchd");
                host.ovs().startSwitch();
            }
            case AGENT -> {
                agent.kill();
                agent = HostProcess.start(host, POWER_OFF, "");
            }
        }
    }
}
