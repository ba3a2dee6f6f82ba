package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.host.CgroupJobStep;
import org.cloister.lab.site.HostInventory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** VMs that come and go leave nothing on their host, and nothing in the agent that made them. {@code sweep.all}: 500 of them. */
@Tag("scenario")
@Tag("host")
@Timeout(1800)
@ExtendWith(SharedLab.class)
class HostCyclesTest {
    /** Above all numbers of other scenarios, whose places in their tickets are spent. */
    private static final int FIRST = 10_000;

    private static final int WARM_UP = 10;
    /** Threads that end by themselves when they have had nothing to do for some seconds. */
    private static final int IDLE_THREADS = 3;

    private static final int GROWTH_KIB = 2048;

    private final LabHost host;
    private final int cycles = Boolean.getBoolean("cloister.sweep.all") ? 500 : 50;

    HostCyclesTest(Lab lab) {
        host = lab.host(1);
    }

    private record Count(int files, int threads, int heapKib) {
        static Count of(String line) {
            String[] words = line.split(" ", -1);
            return new Count(Integer.parseInt(words[2]), Integer.parseInt(words[4]), Integer.parseInt(words[6]));
        }
    }

    @Test
    @RotatedScenario(6)
    void vms_that_come_and_go_leave_nothing_and_the_agent_does_not_grow() throws IOException {
        List<Long> built = new ArrayList<>();
        List<Count> counts = new ArrayList<>();
        try (HostInventory inventory = new HostInventory(host);
                HostProcess agent = HostProcess.start(host, Duration.ZERO, "");
                CgroupJobStep step = CgroupJobStep.start(host, FIRST)) {
            inventory.createForeignObjects();
            agent.await("settled 0");
            agent.send("cycles " + FIRST + " " + (WARM_UP + cycles) + " " + step.pid());
            String line = "";
            while (!line.equals("cycled")) {
                line = agent.await(List.of("built ", "counted ", "failed ", "cycled"));
                assertThat(line).doesNotStartWith("failed");
                if (line.startsWith("built ")) {
                    built.add(Long.parseLong(line.substring("built ".length())));
                } else if (line.startsWith("counted ")) {
                    counts.add(Count.of(line));
                }
            }
            assertThat(inventory.all()).isEmpty();
            assertThat(inventory.bridgeDifferences()).isEmpty();
            assertThat(inventory.isForeignThere()).isTrue();
            assertThat(step.otherProcesses()).isZero();
        }
        Count first = counts.get(0);
        Count last = counts.get(counts.size() - 1);
        List<Long> sorted = built.stream().sorted().toList();
        System.out.println("host cycles: " + built.size() + " VMs, built in ms: p50 " + sorted.get(sorted.size() / 2)
                + ", most " + sorted.get(sorted.size() - 1) + "; after " + WARM_UP + ": " + first + ", at the end: "
                + last);
        assertThat(built).hasSize(WARM_UP + cycles);
        assertThat(last.files()).isLessThanOrEqualTo(first.files());
        assertThat(last.threads()).isLessThanOrEqualTo(first.threads() + IDLE_THREADS);
        assertThat(last.heapKib()).isLessThanOrEqualTo(first.heapKib() + GROWTH_KIB);
    }
}
