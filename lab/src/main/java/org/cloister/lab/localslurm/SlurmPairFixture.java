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
import org.cloister.lab.LabRelease;
import org.cloister.lab.ParallelActions;
import org.cloister.lab.Sandbox;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.jobsubmit.SubmitPluginData;

/**
 * A project's Local Slurm, whose nodes come with tickets, and a plain Slurm of the same shape beside it, both with the
 * same users. Each has its own network, and ends with the processes that keep its machines.
 */
public final class SlurmPairFixture implements AutoCloseable {
    /** Shape of every node of the plain cluster, and of the hosts that workers are made on. */
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

    /**
     * Starts both from nothing; a failure leaves only logs in the cache.
     *
     * @param release of all machines of both
     */
    public static SlurmPairFixture up(LabHome home, LabName name, LabRelease release) throws IOException {
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
                        local.start(LocalSlurmFiles.write(local), release);
                        FilterProcess filter = new FilterProcess(local);
                        filter.closePort();
                        filter.start();
                    },
                    () -> {
                        plain.start(PlainSlurm.text(plain), release);
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

    /** Returns the Local Slurm; its jobs run when workers for them exist. */
    public LabCluster local() {
        return local;
    }

    /** Returns the plain Slurm; its nodes, {@code p1} and so on, always exist. */
    public LabCluster plain() {
        return plain;
    }

    /** Returns the file that is written to at each submission to the Local Slurm. */
    public Path bell() {
        return LocalSlurmFiles.bell(site);
    }

    /** Returns the data of the Local Slurm's submit plugin. */
    public SubmitPluginData pluginData(int release) throws IOException {
        return LocalSlurmFiles.config(site, Path.of(ClusterSite.RUN), 1, Optional.empty())
                .submitPluginData(release);
    }

    /** Returns the filter between nodes and the Local Slurm's slurmctld. */
    public FilterProcess filter() {
        return new FilterProcess(site);
    }

    /** Returns the state that successive worker allocators, in any process, share. */
    public WorkerSite workers() {
        return new WorkerSite(site, List.of(SHAPE));
    }

    /**
     * Starts the Local Slurm's controller, whose nodes are {@link #workers}; one at a time.
     *
     * @param quota tickets in flight at most
     */
    public ControllerProcess startController(int quota) throws IOException {
        return ControllerProcess.start(home, name, site.folder().resolve("log"), quota);
    }

    /**
     * Waits until nothing is left of any job. A scenario with a controller must call this, or the next one has fewer
     * hosts.
     */
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
