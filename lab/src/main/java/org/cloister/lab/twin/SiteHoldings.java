package org.cloister.lab.twin;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;

/**
 * Resources that the site holds for its projects: ports of a bridge on all hosts, and jobs of the Global Slurm.
 *
 * @param ports each with its host's name
 */
record SiteHoldings(Set<String> ports, Set<String> jobs) {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration PAUSE = Duration.ofMillis(200);

    /**
     * Times at which the resources were released, by this machine's clock, in seconds since 1970.
     *
     * @param ports when there were no more than before
     * @param jobs when there were no more than before
     */
    record ReleaseTimes(double ports, double jobs) {}

    static SiteHoldings of(Lab lab, String bridge) throws IOException {
        return new SiteHoldings(ports(lab, bridge), jobs(lab));
    }

    ReleaseTimes awaitFree(Lab lab, String bridge) throws IOException {
        double[] free = new double[2];
        Poll.until("a job's port and Global job gone", LIMIT, "ask ovs-vsctl and squeue", PAUSE, () -> {
            if (free[0] == 0 && ports.containsAll(ports(lab, bridge))) {
                free[0] = TracedJob.seconds(Instant.now());
            }
            if (free[1] == 0 && jobs.containsAll(jobs(lab))) {
                free[1] = TracedJob.seconds(Instant.now());
            }
            return free[0] > 0 && free[1] > 0;
        });
        return new ReleaseTimes(free[0], free[1]);
    }

    private static Set<String> ports(Lab lab, String bridge) throws IOException {
        Set<String> ports = new TreeSet<>();
        for (LabHost host : lab.hosts()) {
            host.ovs()
                    .vsctl("list", "bridge", bridge)
                    .lines()
                    .filter(line -> line.startsWith("ports "))
                    .forEach(line -> ports.addAll(
                            Set.of(line.replaceAll(".*\\[|\\].*", "").split(", ", -1))));
        }
        return ports;
    }

    private static Set<String> jobs(Lab lab) throws IOException {
        return new TreeSet<>(
                lab.slurm().client("squeue", "-h", "-o", "%A").lines().toList());
    }
}
