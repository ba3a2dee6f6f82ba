package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabMachine;
import org.cloister.lab.LabSlurmAccounting;
import org.cloister.lab.LabSlurmDaemon;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers;

/** A Slurm with accounting: its head node runs slurmctld, slurmdbd, MariaDB and munged, and users log in there. */
public final class LabCluster {
    static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final LabMachine head;
    private final Path folder;
    private final LabSlurmAccounting accounting;
    private final LabSlurmDaemon controller;

    /**
     * @param folder of the whole cluster, which all of its machines see
     * @param account of slurmctld and slurmdbd
     */
    LabCluster(LabMachine head, Path folder, String account) {
        this.head = head;
        this.folder = folder;
        this.accounting = new LabSlurmAccounting(head, head.name(), account);
        this.controller = new LabSlurmDaemon(head, "slurmctld", account);
    }

    LabSlurmAccounting accounting() {
        return accounting;
    }

    public ClusterLogin as(ClusterUser user) {
        return new ClusterLogin(head, user.name(), user.home());
    }

    /** Returns the login of an administrator. */
    public ClusterLogin root() {
        return new ClusterLogin(head, "root", "/root");
    }

    public LabMachine head() {
        return head;
    }

    /** Returns a folder that every machine of the cluster, and this process, sees under the same path. */
    public Path folder() {
        return folder;
    }

    /** Returns the folder with the users' homes. */
    public Path homes() {
        return folder.resolve("home");
    }

    /** Returns the folder with passwd and group of all machines of the cluster. */
    public Path etc() {
        return folder.resolve("etc");
    }

    /** Returns the folder that is {@code /etc/slurm} on the head node. */
    public Path slurmFolder() throws IOException {
        return head.folder("etc/slurm");
    }

    /** Returns Slurm's commands as root of the head node, for processes outside. */
    public Path programs() throws IOException {
        return SlurmCommandWrappers.install(head).folder();
    }

    /**
     * Has slurmctld read its configuration. It does so as a new process, which writes its number after Slurm's answer:
     * until then a signal would go to one that is no more.
     */
    public void reconfigure() throws IOException {
        String before = head.pid("slurmctld");
        root().succeed("scontrol", "reconfigure");
        head.await(
                "another process of slurmctld than " + before,
                head.log("slurmctld"),
                START_LIMIT,
                () -> !List.of("", before).contains(head.pid("slurmctld")));
        awaitController();
    }

    /** Stops slurmctld in an orderly way: it saves its state. */
    public void terminateController() throws IOException {
        head.signal("slurmctld", "TERM");
    }

    /**
     * Kills slurmctld with kill -9.
     *
     * @return time since which its changes are lost, in milliseconds since the epoch: when it last saved its jobs
     */
    public long killController() throws IOException {
        head.signal("slurmctld", "KILL");
        Path state = head.folder("var/spool/slurmctld");
        Path jobs = state.resolve("job_state");
        // As slurmctld does it, if it was killed while it replaced the one with the other.
        return Files.getLastModifiedTime(Files.exists(jobs) ? jobs : state.resolve("job_state.old"))
                .toMillis();
    }

    public void startController() throws IOException {
        startController(new String[0]);
    }

    void startController(String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of("-L", head.log("slurmctld").toString()));
        argv.addAll(List.of(arguments));
        controller.start(argv);
        awaitController();
    }

    public void awaitController() throws IOException {
        head.await(
                "slurmctld",
                head.log("slurmctld"),
                START_LIMIT,
                () -> head.command("scontrol", "ping").run().out().contains(" UP"));
    }

    public void killAccounting() throws IOException {
        accounting.killDaemon();
    }

    public void startAccounting() throws IOException {
        accounting.startDaemon();
        head.await(
                "slurmdbd",
                head.log("slurmdbd"),
                START_LIMIT,
                () -> head.command("sacctmgr", "-n", "show", "cluster").run().exit() == 0);
    }

    /**
     * Returns Slurm's long name of a job's state, such as {@code RUNNING}; empty for a job that slurmctld does not
     * have.
     */
    public String state(String job) throws IOException {
        return head.command("squeue", "-h", "-t", "all", "-j", job, "-o", "%T")
                .run()
                .out()
                .strip();
    }

    public void awaitState(long job, String state) throws IOException {
        awaitState(Long.toString(job), state, START_LIMIT);
    }

    public void awaitState(String job, String state, Duration limit) throws IOException {
        await("job " + job + " " + state, limit, () -> state(job).equals(state));
    }

    /** @param state in small letters, as {@code sinfo -t} requires it */
    public long nodes(String state) throws IOException {
        return head.command("sinfo", "-h", "-N", "-t", state, "-o", "%N")
                .run()
                .out()
                .lines()
                .filter(line -> !line.startsWith("waiting-for-vm-"))
                .count();
    }

    public void await(String what, Duration limit, Poll.Question question) throws IOException {
        head.await(what, head.log("slurmctld"), limit, question);
    }
}
