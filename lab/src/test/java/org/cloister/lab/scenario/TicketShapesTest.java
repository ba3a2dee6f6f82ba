package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.relay.slurm.GlobalSlurmCommands;
import org.cloister.relay.slurm.GlobalSlurmSettings;
import org.cloister.relay.slurm.JobSubmission;
import org.cloister.relay.slurm.NodeAllocation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tickets of many shapes on the real Global Slurm: what the relay reads of the job is what its step has on each node, which is what
 * agent-host gives to the VM or refuses.
 */
@Tag("scenario")
@Tag("slurm")
@Tag("tickets")
@Timeout(300)
@RotatedScenario(7)
@ExtendWith(SharedLab.class)
@DrawnRelease
class TicketShapesTest {
    private static final String ACCOUNT = "climate";
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Pattern STEP = Pattern.compile("TRES=cpu=(\\d+),mem=(\\d+)M,node=(\\d+)");

    /** Nodes have two CPUs each. */
    private static final List<Shape> SHAPES = List.of(
            new Shape(1, 1, 0, 1, 101, false),
            new Shape(1, 2, 0, 1, 100, false),
            new Shape(1, 1, 0, 2, 100, false),
            new Shape(2, 2, 1, 1, 100, false),
            new Shape(2, 3, 2, 1, 333, false),
            new Shape(2, 4, 2, 1, 100, false),
            new Shape(2, 2, 1, 2, 777, false),
            new Shape(1, 1, 0, 1, 0, true),
            new Shape(2, 2, 0, 1, 0, true),
            new Shape(1, 1, 0, 1, 150, true));

    private final Lab lab;
    private final SlurmCommandWrappers programs;
    private final Path ends;

    /** A ticket's request; 0 tasks of a node: no limit. */
    private record Shape(int nodes, int tasks, int tasksPerNode, int cpusPerTask, int memoryMib, boolean exclusive) {
        JobSubmission submission(String ticket) {
            return new JobSubmission(
                    "secure",
                    ticket,
                    ACCOUNT,
                    nodes,
                    OptionalInt.of(tasks),
                    cpusPerTask,
                    tasksPerNode == 0 ? OptionalInt.empty() : OptionalInt.of(tasksPerNode),
                    memoryMib,
                    exclusive,
                    Duration.ofMinutes(5),
                    List.of());
        }
    }

    TicketShapesTest(Lab lab) throws IOException {
        this.lab = lab;
        lab.slurm().account(ACCOUNT);
        this.programs = lab.slurm().programs();
        this.ends = Files.createDirectories(programs.folder().resolve("shapes"));
        Path step = Files.writeString(ends.resolve("step"), """
                #!/bin/sh
                echo "$SLURMD_NODENAME $SLURM_CPUS_ON_NODE" >>%1$s/ran-$1
                while [ ! -e %1$s/end-$1 ]; do sleep 0.1; done
                """.formatted(ends));
        Files.setPosixFilePermissions(step, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void the_step_of_a_ticket_has_what_its_job_has_on_each_node() throws IOException {
        GlobalSlurmCommands slurm = new GlobalSlurmCommands(new GlobalSlurmSettings(
                Optional.of(programs.folder()),
                Optional.empty(),
                "root",
                new GlobalPartitions("secure", Optional.empty()),
                List.of(ends.resolve("step").toString()),
                Duration.ofSeconds(15)));
        for (Shape shape : SHAPES) {
            String ticket =
                    RANDOM.ints(26, 'a', 'z' + 1).mapToObj(Character::toString).collect(Collectors.joining());
            long job = slurm.submit(shape.submission(ticket));
            Path report = ends.resolve("ran-" + ticket);
            Poll.until(
                    "the step of " + shape,
                    LIMIT,
                    "squeue",
                    () -> Files.exists(report) && Files.readAllLines(report).size() == shape.nodes);
            List<NodeAllocation> shares = slurm.shares(job);
            Map<String, Integer> allocated = new TreeMap<>();
            shares.forEach(share -> allocated.put(share.node(), share.cpus()));
            Map<String, Integer> step = new TreeMap<>();
            for (String line : Files.readAllLines(report)) {
                step.put(line.split(" ", -1)[0], Integer.parseInt(line.split(" ", -1)[1]));
            }
            Matcher tres = STEP.matcher(lab.slurm().client("scontrol", "show", "step", job + ".0"));
            assertThat(tres.find()).as("a line of what the step has").isTrue();
            System.out.println(shape + ": job " + shares + ", step " + step + ", " + tres.group());
            Files.writeString(ends.resolve("end-" + ticket), "");

            assertThat(step).as("CPUs of %s", shape).isEqualTo(allocated);
            assertThat(Integer.parseInt(tres.group(1)))
                    .as("CPUs of %s", shape)
                    .isEqualTo(
                            allocated.values().stream().mapToInt(each -> each).sum());
            assertThat(Integer.parseInt(tres.group(2)))
                    .as("memory of %s", shape)
                    .isEqualTo(
                            shares.stream().mapToInt(NodeAllocation::memoryMib).sum());
            assertThat(allocated.values().stream().mapToInt(each -> each).sum())
                    .as("no fewer CPUs than asked for: %s", shape)
                    .isGreaterThanOrEqualTo(shape.tasks * shape.cpusPerTask);
            Poll.until(
                    "the end of " + shape,
                    LIMIT,
                    "squeue",
                    () -> lab.slurm()
                            .client("squeue", "-h", "-j", Long.toString(job), "-t", "R,CG")
                            .isBlank());
        }
    }
}
