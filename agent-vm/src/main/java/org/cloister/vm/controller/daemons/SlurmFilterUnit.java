package org.cloister.vm.controller.daemons;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;
import org.cloister.vm.rpcfilter.FilterStateFile;
import org.cloister.vm.rpcfilter.SlurmRelease;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.cloister.vm.system.daemon.UnitControl;
import org.cloister.vm.system.network.NetworkPlan;
import org.cloister.vm.system.network.SlurmctldRedirectTable;

/**
 * Starts and stops the filter between workers and slurmctld. Before slurmctld runs, its port is closed to workers,
 * which reach it only through the filter.
 */
public final class SlurmFilterUnit {
    static final String UNIT = "cloister-slurm-filter.service";
    static final String ACCOUNT = "cloister-filter";
    private static final long PAUSE_MS = 100;

    private final ProcessRunner programs;
    private final UnitControl services;
    private final NetworkPlan network;
    private final Path run;
    private final Path etc;

    /** @param run agent-vm's folder on tmpfs */
    public SlurmFilterUnit(ProcessRunner programs, UnitControl services, NetworkPlan network, Path run, Path etc) {
        this.programs = programs;
        this.services = services;
        this.network = network;
        this.run = run;
        this.etc = etc;
    }

    /** Returns the file that states whether the filter runs and what it refused. */
    public FilterStateFile state() {
        return new FilterStateFile(file());
    }

    /**
     * Closes slurmctld's port, before slurmctld is started: from then on it is reached from outside only through the
     * filter.
     */
    public void closePort() throws IOException {
        new SlurmctldRedirectTable(network.own(), network.network(), account().uid()).install(programs);
    }

    /**
     * Starts the filter, which listens on return.
     *
     * @throws IOException if it does not listen in time, or does not know Slurm's release
     */
    public void start(Duration limit) throws IOException {
        SlurmRelease release = SlurmStateRelease.installed(programs);
        programs.runChecked(
                "install",
                "-d",
                "-m",
                "0755",
                run.resolve(FilterStateFile.FOLDER).toString());
        programs.runChecked(
                "install", "-m", "0660", "-g", Integer.toString(account().gid()), "/dev/null", file().toString());
        services.start(UNIT, settings(release));
        long deadline = System.nanoTime() + limit.toNanos();
        while (!state().isRunning()) {
            if (System.nanoTime() >= deadline) {
                throw new IOException(
                        UNIT + ": does not listen after " + limit.toSeconds() + " s; see journalctl -u " + UNIT);
            }
            pause();
        }
    }

    private String settings(SlurmRelease release) {
        String address = network.own() + "/" + network.prefix();
        return "[Service]\nExecStart=\nExecStart=/usr/libexec/cloister/slurm-filter " + address + " " + release + " "
                + file() + "\n";
    }

    /** Stops the filter; workers then wait. */
    public void stop() throws IOException {
        stop(services);
    }

    /** Stops the filter without other knowledge of it. */
    public static void stop(UnitControl services) throws IOException {
        services.stop(UNIT);
    }

    private Path file() {
        return run.resolve(FilterStateFile.NAME);
    }

    private DaemonAccount account() throws IOException {
        return DaemonAccount.of(etc.resolve("passwd"), ACCOUNT);
    }

    private static void pause() throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(UNIT + ": interrupted", e);
        }
    }
}
