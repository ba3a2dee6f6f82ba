package org.cloister.vm.controller.daemons;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.process.ProcessRunner;
import org.cloister.vm.system.daemon.UnitControl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts and stops the daemons of the Local Slurm. Each is started when those that it needs respond, and stopped before
 * them. munged runs before; then MariaDB and slurmdbd start, the members' accounts are set up, and slurmctld starts.
 */
public final class LocalSlurmDaemons {
    static final String DATABASE = "mariadb.service";
    static final String ACCOUNTING = "slurmdbd.service";
    static final String CONTROLLER = "slurmctld.service";

    private static final Logger LOG = LoggerFactory.getLogger(LocalSlurmDaemons.class);
    private static final List<String> ORDER = List.of(DATABASE, ACCOUNTING, CONTROLLER);
    private static final Duration ATTEMPT_LIMIT = Duration.ofSeconds(10);

    private final ProcessRunner programs;
    private final UnitControl services;
    private final LocalSlurmPlan plan;
    private final DaemonResponse responses;

    /** Sets up the members' names and associations, before slurmctld starts. */
    @FunctionalInterface
    public interface AccountSetup {
        void createAccounts() throws IOException;
    }

    /** @param responseLimit time for a daemon to respond, and for a new database to be created */
    public LocalSlurmDaemons(
            ProcessRunner programs, UnitControl services, LocalSlurmPlan plan, Duration responseLimit) {
        this.programs = programs;
        this.services = services;
        this.plan = plan;
        this.responses = new DaemonResponse(programs, ATTEMPT_LIMIT, responseLimit);
    }

    /**
     * Starts the daemons; all of them respond on return. Their files exist before, and munged runs.
     *
     * @throws IOException if one does not start; those before it run
     */
    public void start(AccountSetup accounts) throws IOException {
        if (Files.notExists(installed())) {
            install();
        }
        services.start(DATABASE, LocalSlurmUnits.database());
        String socket = "--socket=" + plan.databaseSocket();
        responses.await(DATABASE, "", "mariadb", "--no-defaults", socket, "-e", "select 1");
        for (String grant : LocalSlurmConfigFiles.grants()) {
            run("mariadb", "--no-defaults", socket, "-e", grant);
        }
        services.start(ACCOUNTING, LocalSlurmUnits.accounting());
        responses.await(ACCOUNTING, "", "sacctmgr", "-n", "-P", "list", "cluster", "format=cluster");
        accounts.createAccounts();
        services.start(
                CONTROLLER,
                LocalSlurmUnits.controller(
                        plan.driveLayout().slurmState(), plan.slurmConf().notifyFile()));
        responses.await(CONTROLLER, " UP", "scontrol", "ping");
    }

    /**
     * Stops the daemons in reverse order; continues if one does not stop.
     *
     * @return the units that could not be stopped
     */
    public List<String> stop() {
        return stop(services);
    }

    /** Stops the daemons without other knowledge of them. */
    public static List<String> stop(UnitControl services) {
        List<String> running = new ArrayList<>();
        for (int i = ORDER.size() - 1; i >= 0; i--) {
            try {
                services.stop(ORDER.get(i));
            } catch (IOException e) {
                LOG.error("{} cannot be stopped: {}", ORDER.get(i), e.getMessage());
                running.add(ORDER.get(i));
            }
        }
        return running;
    }

    /**
     * Returns the file that marks MariaDB's folder as complete: a folder that a kill left without it is created again.
     */
    private Path installed() {
        return plan.driveLayout().databaseFolder().resolve("cloister-installed");
    }

    /** Creates the database on a new drive. Root logs in by the socket, and no other account can log in. */
    private void install() throws IOException {
        run("find", plan.driveLayout().databaseFolder().toString(), "-mindepth", "1", "-delete");
        run(
                "mariadb-install-db",
                "--no-defaults",
                "--user=mysql",
                "--datadir=" + plan.driveLayout().databaseFolder(),
                "--auth-root-authentication-method=socket",
                "--skip-test-db");
        AtomicFile.create(installed(), new byte[0]);
    }

    /** Runs a command of the start, which has as much time as a daemon. */
    private void run(String... command) throws IOException {
        ProcessRunner.Output output = programs.run("", List.of(command), responses.limit());
        if (output.exit() != 0) {
            throw new IOException(command[0] + ": " + output.errorSummary());
        }
    }
}
