package org.cloister.lab.localslurm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabMachine;

/** A user at the cluster's head node, in the home folder and with a fresh environment. */
public final class ClusterLogin {
    private final LabMachine head;
    private final String name;
    private final String home;

    ClusterLogin(LabMachine head, String name, String home) {
        this.head = head;
        this.name = name;
        this.home = home;
    }

    /** Returns a command that can be run, given input, or given another limit. */
    public LabCommand command(List<String> argv) {
        List<String> whole = new ArrayList<>(List.of("env", "-i", "-C", home));
        whole.addAll(List.of(
                "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                "HOME=" + home,
                "USER=" + name,
                "LOGNAME=" + name,
                "SHELL=/bin/bash",
                "LC_ALL=C"));
        whole.addAll(List.of("setpriv", "--reuid=" + name, "--regid=" + name, "--init-groups", "--"));
        whole.addAll(argv);
        return head.command(whole);
    }

    public LabCommand.Output run(String... argv) throws IOException {
        return command(List.of(argv)).run();
    }

    /** @throws LabException if the exit status is not 0 */
    public String succeed(String... argv) throws IOException {
        LabCommand.Output output = run(argv);
        if (output.exit() != 0) {
            throw new LabException(
                    name + ": " + String.join(" ", argv) + ": exit " + output.exit() + ": "
                            + output.err().strip(),
                    "read slurmctld's log in " + head.folder());
        }
        return output.out();
    }

    public LabCommand.Output sbatch(String... arguments) throws IOException {
        return slurm("sbatch", arguments);
    }

    public LabCommand.Output srun(String... arguments) throws IOException {
        return slurm("srun", arguments);
    }

    public LabCommand.Output salloc(String... arguments) throws IOException {
        return slurm("salloc", arguments);
    }

    /**
     * Submits a line of shell.
     *
     * @return the job's number
     */
    public long submit(String line, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of("sbatch", "--parsable"));
        argv.addAll(List.of(arguments));
        argv.add("--wrap=" + line);
        return Long.parseLong(succeed(argv.toArray(String[]::new)).strip());
    }

    private LabCommand.Output slurm(String program, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(program));
        argv.addAll(List.of(arguments));
        return command(argv).run();
    }
}
