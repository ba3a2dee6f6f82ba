package org.cloister.lab.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.lab.LabException;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;

/**
 * Attempts of others to reach a member's running job: by another member of the same project, and by another project.
 */
final class CrossAccessAttempts {
    private static final String NOT_REACHED = "not reached";
    private static final String REACH = "reach.sh";
    private static final String TRY = """
            try() { said=$("$@" 2>&1) && is=done || is=refused; echo "$*: $is: ${said//$'\\n'/ }"; }
            """;

    private static final int TRIES = 6;

    private final ProjectFixture project;
    private final String job;
    private final DemoClaims claims;

    CrossAccessAttempts(ProjectFixture project, String job, DemoClaims claims) {
        this.project = project;
        this.job = job;
        this.claims = claims;
    }

    /** Attempts, as another member, to get the node or the job on it. */
    void tryOtherMember() throws IOException {
        MemberDevice thief = project.bob;
        String node = project.member.node(job);
        Map<String, String> became = new TreeMap<>();
        String tries = String.join(
                "; ",
                "try srun --overlap --jobid=" + job + " true",
                "try sbatch --nodelist=" + node + " --wrap=true",
                "try scontrol update nodename=" + node + " state=drain reason=mine",
                "try scontrol update jobid=" + job + " timelimit=1",
                "try scancel " + job,
                "try timeout 5 bash -c 'exec 3<>/dev/tcp/" + node + "/22'");
        for (String line : thief.runSsh(TRY + tries).lines().toList()) {
            String[] words = line.split(": ", 2);
            became.put(words[0], words[1]);
        }
        claims.refused("another member of the project gets neither the job's node nor the job", became, "refused");
        if (became.size() != TRIES || !project.member.node(job).equals(node)) {
            throw new LabException(
                    "job " + job + ": it was on " + node + "; of " + TRIES + " attempts: " + became, "ask squeue");
        }
    }

    /**
     * Attempts access from the other project's running controlling VM: to the first project's slurmctld, storage and
     * slurmd, and to its name at the relay.
     */
    void tryOtherProject(ProjectFixture other, Path folder) throws IOException {
        String main = project.member
                .runSsh("ip -o -4 address show scope global")
                .replaceFirst("(?s).* inet ([0-9.]+)/.*", "$1");
        List<String> ends = List.of(
                main + ":6817",
                main + ":2049",
                project.member.address(job) + ":6818",
                project.member.address(job) + ":22");
        Path reach = folder.resolve(REACH);
        try (InputStream in = CrossAccessAttempts.class.getResourceAsStream(REACH)) {
            Files.write(reach, in.readAllBytes());
        }
        other.member.put(reach);
        Map<String, String> became = new TreeMap<>();
        for (String line : other.member
                .runSsh("bash " + REACH + " " + String.join(" ", ends))
                .lines()
                .toList()) {
            int end = line.lastIndexOf(": ");
            became.put(line.substring(0, end), line.substring(end + 2));
        }
        if (became.size() != ends.size()) {
            throw new LabException("reach: want " + ends.size() + " answers, have " + became, "run it by hand");
        }
        claims.refused("another project's controlling VM reaches nothing of this one's network", became, NOT_REACHED);
        claims.require(
                project.member.runSsh("bash " + REACH + " " + ends.get(2)).contains(": reached"),
                "this project's own VM reaches its job's slurmd",
                ends.get(2));
        String dialled = other.openCircuit(project.controller());
        claims.require(dialled.contains("not-allowed"), "the relay opens no circuit between two projects", dialled);
    }
}
