package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.cloister.host.vm.VmOwner;
import org.cloister.lab.Host;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * libvirtd and vswitchd are killed at random moments of a VM's way up and down and started again, 20 times ({@code sweep.all}:
 * 200): each VM is then all right, or all gone and its caller told; {@code CLOISTER_SEED} repeats.
 */
@Tag("scenario")
@Tag("host")
@Timeout(3600)
@ExtendWith(SharedLab.class)
class HostDaemonsTest {
    private static final Duration POWER_OFF = Duration.ofMillis(500);
    /** Longer than a VM is on its way up or down. */
    private static final int SPAN_MS = 1500;

    private static final Duration FLOWS_LIMIT = Duration.ofSeconds(5);
    private static final int FIRST = 20_000;

    private final Host host;
    private final int rounds = Boolean.getBoolean("cloister.sweep.all") ? 200 : 20;
    private final Map<String, Integer> counts = new TreeMap<>();

    HostDaemonsTest(Lab lab) {
        host = lab.host(1);
    }

    private enum Victim {
        LIBVIRTD,
        VSWITCHD
    }

    @Test
    void a_vm_is_all_right_or_all_gone_whenever_libvirtd_or_vswitchd_is_killed() throws IOException {
        Random random = new Random(Seed.of("HostDaemonsTest"));
        try (HostEyes eyes = new HostEyes(host);
                HostProcess agent = HostProcess.start(host, POWER_OFF, "")) {
            eyes.layForeign();
            agent.await("settled 0");
            for (int number = FIRST; number < FIRST + rounds; number++) {
                Victim victim = Victim.values()[random.nextInt(Victim.values().length)];
                boolean up = random.nextBoolean();
                int delay = random.nextInt(SPAN_MS);
                String what = (up ? "up, " : "down, ") + victim + " killed after " + delay + " ms";
                try (PlainStep step = PlainStep.begin(host, number)) {
                    oneVm(agent, eyes, number, step, victim, up, delay);
                } catch (AssertionError | IOException e) {
                    throw new AssertionError(what, e);
                }
                assertThat(eyes.all()).as(what).isEmpty();
                // A vswitchd that has just started has no flows, and forwards nothing, until the agent has laid them.
                Poll.until(
                        what + ": flows",
                        FLOWS_LIMIT,
                        "ovs-ofctl dump-flows",
                        () -> eyes.bridgeDifferences().isEmpty());
                assertThat(eyes.isForeignThere()).as(what).isTrue();
            }
        }
        System.out.println("host daemons: " + rounds + " kills: " + counts);
    }

    private void oneVm(
            HostProcess agent, HostEyes eyes, int number, PlainStep step, Victim victim, boolean up, int delay)
            throws IOException {
        VmOwner owner = Plans.owner(number, number);
        agent.tell("build " + number + " " + step.pid());
        if (up) {
            strike(victim, delay);
        }
        boolean built = agent.await(List.of("built ", "failed ")).startsWith("built ");
        count((up ? "up " : "down ") + victim + (built ? " built" : " not built"));
        if (!built) {
            agent.await("settled 0");
            return;
        }
        agent.tell("register " + number);
        agent.await("registered");
        if (up) {
            // A round that begins now sees what there is after the kill.
            agent.tell("ring");
            agent.await("settled 1");
            assertThat(eyes.of(owner)).isEqualTo(HostEyes.whole());
        }
        agent.tell("end " + number);
        if (!up) {
            strike(victim, delay);
        }
        agent.await("settled 0");
    }

    private void strike(Victim victim, int delay) throws IOException {
        Stage.sleep(delay);
        if (victim == Victim.LIBVIRTD) {
            host.libvirt().kill();
            host.libvirt().start(host.ovs());
        } else {
            host.ovs().kill("ovs-vswitchd");
            host.ovs().startSwitch();
        }
    }

    private void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }
}
