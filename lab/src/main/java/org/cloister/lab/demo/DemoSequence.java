package org.cloister.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.ParallelActions;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.ScratchDisks;

/** Runs the steps of the demo in order. */
@SuppressWarnings("NullAway.Init") // set by the steps in their order
final class DemoSequence {
    private final ProjectFixture project;
    private final MemberDevice member;
    private final MarkerSearches searches;
    private final Path folder;
    private final ProgressLog steps;
    private final PrintStream out;
    private final DemoClaims claims = new DemoClaims();

    private ProjectFixture.OpenedVm opened;
    private ProjectFixture other;
    private ProjectFixture.OpenedVm beside;
    private long epoch;
    private String first;
    private String second;
    private JobTimeline timeline;

    /** @param folder of people's files; its {@code site} is the site's */
    DemoSequence(ProjectFixture project, MarkerSearches searches, Path folder, ProgressLog steps, PrintStream out) {
        this.project = project;
        this.member = project.member;
        this.searches = searches;
        this.folder = folder;
        this.steps = steps;
        this.out = out;
    }

    String job() {
        return "job " + first + ": an MPI program over two virtual machines of the project's own";
    }

    JobTimeline timeline() {
        return timeline;
    }

    List<DemoClaims.Claim> claims() {
        return claims.all();
    }

    void run() throws IOException {
        steps.runStep("an owner has a controlling VM started, with a new drive", this::open);
        steps.runStep("it is judged, certified and unlocked; its Slurm is at work", this::awaitWork);
        MatrixJob matrix = new MatrixJob(member, Files.createDirectories(folder.resolve("files")), new Random());
        steps.runStep("a member's ssh knows the way", () -> {
            member.configure();
            project.bob.configure();
        });
        steps.runStep("a member builds a program, and puts it and a matrix there", matrix::upload);
        out.println("  the member types sbatch --nodes=2");
        first = matrix.run(out);
        steps.runStep("other people have a project's controlling VM started, too", () -> {
            other = project.beside(folder.resolve("other"));
            beside = other.openNewDrive();
        });
        second = steps.step(
                "the member submits a job that waits for a word",
                () -> member.submit("--tmp=40 --output=long.txt --wrap='yes " + MatrixJob.MARKER
                        + "-scratch | head -c 8M >/scratch/file; sync; touch written;"
                        + " until [ -e go ]; do sleep 1; done; srun hostname; echo over'"));
        steps.runStep("what job " + first + " wrote is fetched and checked", () -> matrix.check(claims));
        String ticket = steps.step("its times", () -> {
            timeline = matrix.timeline(first);
            return member.ticket(first);
        });
        neighbours();
        loss();
        steps.runStep(
                "each ticket's receipt is verified, without any network",
                () -> receipts(List.of(ticket, member.ticket(second))));
        steps.runStep("the relay's audit log is verified, without it", this::audit);
        steps.runStep("wires, disks and memory are searched", () -> searches.claim(project, ticket, claims));
        steps.runStep("the project is closed, and nothing is left on any host", this::close);
    }

    private void open() throws IOException {
        opened = project.openNewDrive();
        searches.add(opened.wire());
    }

    private void awaitWork() throws IOException {
        JsonNode answer = project.awaitWork(opened);
        epoch = answer.path("epoch").asLong();
        claims.require(
                answer.path("vm").asText().equals("open"),
                "the owner's device unlocks the drive only for a VM that the owners' policy takes",
                "host, image and what was booted, as agentctl project open judged them; the drive's epoch is " + epoch);
    }

    private void neighbours() throws IOException {
        steps.runStep("the waiting job runs", () -> member.awaitRunning(second));
        steps.runStep("what it keeps on scratch is looked at from its host", this::scratch);
        CrossAccessAttempts attempts = new CrossAccessAttempts(project, second, claims);
        steps.runStep("another member tries to get its node", attempts::tryOtherMember);
        steps.runStep("the other project's Slurm is at work", () -> {
            other.awaitWork(beside);
            other.member.configure();
        });
        steps.runStep("the other project tries to reach this one", () -> attempts.tryOtherProject(other, folder));
    }

    private void scratch() throws IOException {
        member.runSsh("until [ -e written ]; do sleep 1; done");
        ScratchDisks disks = ScratchDisks.of(project.site().lab());
        Set<String> found = disks.found(MatrixJob.MARKER);
        claims.require(
                found.isEmpty() && disks.written() > 8 << 20,
                "what a job keeps on its scratch disk is noise to its host",
                "8 MiB of the data's marker were written; " + (disks.written() >> 20)
                        + " MiB are on the disk behind its header, the marker in " + found.size() + " places");
    }

    private void loss() throws IOException {
        String node = member.node(second);
        String since = member.slurmdSince(node);
        steps.runStep("the controlling VM is killed, as if its host's power went", () -> {
            project.site().guests().kill(opened.owner());
            project.awaitGone(opened);
            opened.close();
        });
        // The other project is not needed any longer.
        steps.runStep(
                "the other owner opens it again; the other project ends",
                () -> ParallelActions.run(() -> reopen(), () -> close(other, beside)));
        steps.runStep("the job's node makes itself known again", () -> member.awaitSlurmd(node, since));
        steps.runStep("the job that ran is told to go on, and ends well", () -> {
            member.runSsh("touch go");
            member.awaitEnd(second);
            String state = member.state(second);
            claims.require(
                    state.equals("COMPLETED|0:0"),
                    "a job outlives its project's controlling VM",
                    "job " + second + " ended as " + state + " and said "
                            + String.join(
                                    ", ",
                                    member.runSsh("grep -v ^srun: long.txt")
                                            .lines()
                                            .toList()));
            project.awaitNoWorker();
        });
    }

    private void reopen() throws IOException {
        opened = project.open(
                project.second, ProjectFixture.words("--epoch", Long.toString(epoch + 1)), project.shared());
        searches.add(opened.wire());
        project.awaitWork(opened);
    }

    private static void close(ProjectFixture whose, ProjectFixture.OpenedVm vm) throws IOException {
        whose.first.close(vm.owner().ticket());
        whose.awaitGone(vm);
        vm.close();
    }

    private void receipts(List<String> tickets) throws IOException {
        for (String ticket : tickets) {
            Path file = Files.writeString(
                    folder.resolve(ticket + ".json"), member.runSsh("cat /project/receipts/" + ticket + ".json"));
            LabCommand.Output verified = project.verify(file);
            if (verified.exit() != 0) {
                throw new LabException("receipt of ticket " + ticket + ": " + verified, "keep it and report it");
            }
        }
        claims.record(
                "each job's receipt says where it ran and what was erased, signed by controlling VM, workers, hosts"
                        + " and relay",
                "agentctl receipt verify: tickets " + String.join(" and ", tickets));
    }

    private void audit() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("audit", "verify"));
        arguments.addAll(project.site().auditLog());
        arguments.addAll(project.first.heads());
        String verified =
                project.first.agentctl(arguments.toArray(String[]::new)).succeed();
        claims.require(
                arguments.contains("--head") && verified.lines().anyMatch(line -> line.matches("holds +yes")),
                "the relay's audit log is what it signed and its witnesses saw",
                "agentctl audit verify: "
                        + verified.lines()
                                .filter(line -> line.startsWith("records"))
                                .findFirst()
                                .orElse("")
                                .replaceFirst("records +", "")
                        + " records, held against the heads that the owner's device kept");
    }

    private void close() throws IOException {
        project.second.close(opened.owner().ticket());
        project.awaitNothing();
        opened.close();
        claims.record(
                "nothing is left on the hosts",
                "no VM, port, flow, device, folder, disk or job of Slurm's, asked of QEMU, Open vSwitch, the kernel"
                        + " and Slurm");
    }
}
