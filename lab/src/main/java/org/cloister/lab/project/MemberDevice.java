package org.cloister.lab.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;
import org.cloister.protocol.identity.CertificateRole;

/** A member's own device: the system's ssh connects to the project's controlling VM. */
public final class MemberDevice {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final Duration AGAIN = Duration.ofSeconds(2);
    private static final String ALIAS = "cloister";
    private static final Pattern TICKET = Pattern.compile(" ticket=(\\S+)");

    private final PersonDevice device;
    private final Path policy;

    /** @param policy the owners', signed */
    public MemberDevice(PersonDevice device, Path policy) {
        this.device = device;
        this.policy = policy;
    }

    /** Configures ssh once the VM is open; it can connect from then on. */
    public void configure() throws IOException {
        Files.writeString(
                config(),
                agentctl(CertificateRole.MEMBER, "ssh-config", "--host", ALIAS).succeed());
    }

    /** Returns a command that runs a line in the login's shell in the VM. */
    public LabCommand ssh(String line) {
        return device.command(List.of("ssh", "-F", config().toString(), ALIAS, line))
                .within(TIMEOUT);
    }

    /** Runs a line as {@link #ssh} does, and returns its output. */
    public String runSsh(String line) throws IOException {
        return ssh(line).succeed();
    }

    /** Runs a line as {@link #ssh} does, and passes on each line of output as it arrives. */
    public void follow(String line, Consumer<String> each) throws IOException {
        LabCommand.Output end = ssh(line).within(TIMEOUT.multipliedBy(2)).follow(each);
        if (end.exit() != 0) {
            throw new LabException("ssh " + line + ": exit " + end.exit() + ": " + end.err(), "run it by hand");
        }
    }

    /** Copies files into the login's home folder. */
    public void put(Path... files) throws IOException {
        List<String> arguments = new ArrayList<>();
        Stream.of(files).map(Path::toString).forEach(arguments::add);
        arguments.add(".");
        agentctl(CertificateRole.MEMBER, "put", arguments.toArray(String[]::new))
                .succeed();
    }

    /** Returns a command that fetches a file; the person is an exporter, too. */
    public LabCommand get(String path, Path to) throws IOException {
        return agentctl(CertificateRole.EXPORTER, "get", path, to.toString());
    }

    /**
     * @param arguments arguments of sbatch
     * @return the job's id
     */
    public String submit(String arguments) throws IOException {
        return runSsh("sbatch --parsable " + arguments).strip();
    }

    public void awaitRunning(String job) throws IOException {
        await("job " + job + " running", TIMEOUT, "[ \"$(squeue -h -o %T -j " + job + ")\" = RUNNING ]");
    }

    /**
     * Polls a condition in one session for as long as that lasts: with a login for each poll, under emulation, VMs took
     * twice their time.
     *
     * @param test a line of the shell
     */
    void await(String what, Duration limit, String test) throws IOException {
        String loop = "for i in {1..60}; do " + test + " && exit; sleep 1; done; exit 1";
        Poll.until(what, limit, "ask Slurm", AGAIN, () -> ssh(loop).run().exit() == 0);
    }

    /** Waits until the VM answers a login again, after its host has returned. */
    public void awaitLogin() throws IOException {
        Poll.until(
                "a login",
                TIMEOUT,
                "read agent-host's log",
                AGAIN,
                () -> ssh("true").run().exit() == 0);
    }

    /**
     * Waits for the job's end, which also the last of its nodes has reported. A job that runs again waits two minutes
     * first.
     */
    public void awaitEnd(String job) throws IOException {
        await(
                "the end of job " + job,
                TIMEOUT.multipliedBy(2),
                "all=$(squeue -h -o %A) && ! grep -q -x " + job + " <<<\"$all\"");
    }

    /** Returns the node of a running job of one node; the VM's domain has the same name. */
    public String node(String job) throws IOException {
        String node = runSsh("squeue -h -o %N -j " + job).strip();
        if (node.isEmpty()) {
            throw new IOException("node of job " + job + ": it has none; see squeue");
        }
        return node;
    }

    /** Returns when slurmctld last recorded a start of a node's slurmd. */
    public String slurmdSince(String node) throws IOException {
        return runSsh(slurmd(node)).strip();
    }

    /** Waits until the slurmd has started and registered since; a slurmctld without a registration yet has no time. */
    public void awaitSlurmd(String node, String since) throws IOException {
        await("slurmd of " + node, TIMEOUT, "now=$(" + slurmd(node) + ") && [ \"$now\" != '" + since + "' ]");
    }

    private static String slurmd(String node) {
        return "scontrol show node " + node + " | grep -o 'SlurmdStartTime=20[^ ]*'";
    }

    /** Returns the address, on the project's network, of the VM that a job runs on. */
    public String address(String job) throws IOException {
        return runSsh("scontrol show node -o " + node(job)).replaceFirst("(?s).* NodeAddr=([0-9.]+) .*", "$1");
    }

    /** Returns the last ticket of a job. */
    public String ticket(String job) throws IOException {
        return TICKET.matcher(phases(job)).results().findFirst().orElseThrow().group(1);
    }

    /** Returns a job's AdminComment, docs/slurm.md, which has its ticket, and its phases after its end. */
    public String phases(String job) throws IOException {
        String[] comment = {""};
        Poll.until("the ticket of job " + job, TIMEOUT, "ask sacct", AGAIN, () -> {
            comment[0] = runSsh("sacct -n -X -P -o AdminComment -j " + job).strip();
            return TICKET.matcher(comment[0]).find();
        });
        return comment[0];
    }

    /** Returns the job's state, and its status with signal, from the project's accounting. */
    public String state(String job) throws IOException {
        return runSsh("sacct -n -X -P -o State,ExitCode -j " + job).strip();
    }

    private LabCommand agentctl(CertificateRole role, String verb, String... arguments) {
        List<String> argv = new ArrayList<>(List.of(device.agentctl().toString(), "project", verb));
        argv.addAll(device.relayArguments());
        argv.addAll(List.of("--policy", policy.toString()));
        if (verb.equals("ssh-config")) {
            argv.addAll(List.of("--role", role.toString()));
        }
        argv.addAll(List.of(arguments));
        return device.command(argv).within(TIMEOUT);
    }

    private Path config() {
        return device.at("ssh_config");
    }
}
