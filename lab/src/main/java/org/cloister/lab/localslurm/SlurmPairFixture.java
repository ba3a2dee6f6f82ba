package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.ParallelActions;
import org.cloister.lab.Sandbox;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.jobsubmit.SubmitPluginData;

/**
 * A project's Local Slurm, whose nodes come with tickets, and beside it a plain Slurm of the same shape, each with the same
 * users. Both have networks of their own, and end with the processes that keep their machines.
 */
public final class SlurmPairFixture implements AutoCloseable {
    /** Of every node of the plain cluster, and of the hosts that workers are made on. */
    public static final HostShape SHAPE = new HostShape(4, 2, 2000, 4000);

    static final String LOCAL = "local";

    private final LabHome home;
    private final LabName name;
    private final ClusterSite site;
    private final LabCluster local;
    private final LabCluster plain;

    private SlurmPairFixture(LabHome home, LabName name, ClusterSite site, LabCluster local, LabCluster plain) {
        this.home = home;
        this.name = name;
        this.site = site;
        this.local = local;
        this.plain = plain;
    }

    /** Brings both up from nothing; whatever fails, nothing of it stays but logs in the cache. */
    public static SlurmPairFixture up(LabHome home, LabName name) throws IOException {
        if (Files.exists(home.folder(name)) || !Sandbox.find(name).isEmpty()) {
            throw new LabException(
                    "lab " + name + ": there is one already in " + home.folder(name),
                    "lab/status shows it, lab/down removes it");
        }
        ClusterSite local = new ClusterSite(home, name, LOCAL);
        ClusterSite plain = new ClusterSite(home, name, "plain");
        boolean up = false;
        try {
            ParallelActions.run(
                    () -> {
                        local.start(LocalSlurmFiles.write(local));
                        local.removeLoopbackDelay();
                        FilterProcess filter = new FilterProcess(local);
                        filter.closePort();
                        filter.start();
                    },
                    () -> {
                        plain.start(PlainSlurm.text(plain));
                        PlainSlurm.startNodes(plain);
                    });
            SlurmPairFixture stage = new SlurmPairFixture(home, name, local, local.cluster(), plain.cluster());
            up = true;
            return stage;
        } finally {
            if (!up) {
                local.keepLogs();
                plain.keepLogs();
                Lab.remove(home, name);
            }
        }
    }

    public LabName name() {
        return name;
    }

    /** Its jobs run when there are workers for them. */
    public LabCluster local() {
        return local;
    }

    /** Its nodes, {@code p1} and so on, are always there. */
    public LabCluster plain() {
        return plain;
    }

    /** The file that is written to at each submission to the Local Slurm. */
    public Path bell() {
        return LocalSlurmFiles.bell(site);
    }

    /** What the Local Slurm's submit plugin knows. */
    public SubmitPluginData pluginData(int release) throws IOException {
        return LocalSlurmFiles.config(site, Path.of(ClusterSite.RUN), 1, Optional.empty())
                .submitPluginData(release);
    }

    /** Between nodes and the Local Slurm's slurmctld. */
    public FilterProcess filter() {
        return new FilterProcess(site);
    }

    /** What one asker of workers after the other, in whatever process, has in common. */
    public WorkerSite workers() {
        return new WorkerSite(site, List.of(SHAPE));
    }

    /**
     * The Local Slurm's controller, whose nodes are {@link #workers}; one at a time.
     *
     * @param quota tickets in flight at most
     */
    public ControllerProcess startController(int quota) throws IOException {
        return ControllerProcess.start(home, name, site.folder().resolve("log"), quota);
    }

    /** Nothing is left of any job: what a scenario that had a controller waits for, or the next one has fewer hosts. */
    public void awaitNoTickets() throws IOException {
        local().await(
                        "no ticket",
                        LabCluster.START_LIMIT,
                        () -> workers().tickets().isEmpty());
    }

    @Override
    public void close() throws IOException {
        Lab.remove(home, name);
    }
}
