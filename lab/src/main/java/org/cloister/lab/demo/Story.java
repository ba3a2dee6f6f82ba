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
import org.cloister.lab.Command;
import org.cloister.lab.LabException;
import org.cloister.lab.Steps;
import org.cloister.lab.Together;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectStage;
import org.cloister.lab.site.ScratchDisks;

/** What happens, in order. */
@SuppressWarnings("NullAway.Init") // set as it is told
final class Story {
    private final ProjectStage project;
    private final MemberDevice member;
    private final Searches searches;
    private final Path folder;
    private final Steps steps;
    private final PrintStream out;
    private final Claims claims = new Claims();

    private ProjectStage.Opened opened;
    private ProjectStage other;
    private ProjectStage.Opened beside;
    private long epoch;
    private String first;
    private String second;
    private Timeline timeline;

    /** @param folder of people's files; its {@code site} is the site's */
    Story(ProjectStage project, Searches searches, Path folder, Steps steps, PrintStream out) {
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

    Timeline timeline() {
        return timeline;
    }

    List<Claims.Claim> claims() {
        return claims.all();
    }

    void tell() throws IOException {
        steps.act("an owner has a controlling VM started, with a new drive", this::open);
        steps.act("it is judged, certified and unlocked; its Slurm is at work", this::awaitWork);
        MatrixJob matrix = new MatrixJob(member, Files.createDirectories(folder.resolve("files")), new Random());
        steps.act("a member's ssh knows the way", () -> {
            member.configure();
            project.bob.configure();
        });
        steps.act("a member builds a program, and puts it and a matrix there", matrix::put);
        out.println("  the member types sbatch --nodes=2");
        first = matrix.run(out);
        steps.act("other people have a project's controlling VM started, too", () -> {
            other = project.beside(folder.resolve("other"));
            beside = other.make();
        });
        second = steps.step(
                "the member submits a job that waits for a word",
                () -> member.submit("--tmp=40 --output=long.txt --wrap='yes " + MatrixJob.MARKER
                        + "-scratch | head -c 8M >/scratch/file; sync; touch written;"
                        + " until [ -e go ]; do sleep 1; done; srun hostname; echo over'"));
        steps.act("what job " + first + " wrote is fetched and checked", () -> matrix.check(claims));
        String ticket = steps.step("its times", () -> {
            timeline = matrix.timeline(first);
            return member.ticket(first);
        });
        neighbours();
        loss();
        steps.act(
                "each ticket's receipt is verified, without any network",
                () -> receipts(List.of(ticket, member.ticket(second))));
        steps.act("the relay's audit log is verified, without it", this::audit);
        steps.act("wires, disks and memory are searched", () -> searches.claim(project, ticket, claims));
        steps.act("the project is closed, and nothing is left on any host", this::close);
    }

    private void open() throws IOException {
        opened = project.make();
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
        steps.act("the waiting job runs", () -> member.awaitRunning(second));
        steps.act("what it keeps on scratch is looked at from its host", this::scratch);
        Neighbours neighbours = new Neighbours(project, second, claims);
        steps.act("another member tries to get its node", neighbours::theft);
        steps.act("the other project's Slurm is at work", () -> {
            other.awaitWork(beside);
            other.member.configure();
        });
        steps.act("the other project tries to reach this one", () -> neighbours.another(other, folder));
    }

    private void scratch() throws IOException {
        member.said("until [ -e written ]; do sleep 1; done");
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
        steps.act("the controlling VM is killed, as if its host's power went", () -> {
            project.site().guests().kill(opened.owner());
            project.awaitGone(opened);
            opened.close();
        });
        // Nothing more is wanted of the other project.
        steps.act(
                "the other owner opens it again; the other project ends",
                () -> Together.run(() -> reopen(), () -> close(other, beside)));
        steps.act("the job's node makes itself known again", () -> member.awaitSlurmd(node, since));
        steps.act("the job that ran is told to go on, and ends well", () -> {
            member.said("touch go");
            member.awaitEnd(second);
            String state = member.state(second);
            claims.require(
                    state.equals("COMPLETED|0:0"),
                    "a job outlives its project's controlling VM",
                    "job " + second + " ended as " + state + " and said "
                            + String.join(
                                    ", ",
                                    member.said("grep -v ^srun: long.txt")
                                            .lines()
                                            .toList()));
            project.awaitNoWorker();
        });
    }

    private void reopen() throws IOException {
        opened =
                project.open(project.second, ProjectStage.words("--epoch", Long.toString(epoch + 1)), project.shared());
        searches.add(opened.wire());
        project.awaitWork(opened);
    }

    private static void close(ProjectStage whose, ProjectStage.Opened vm) throws IOException {
        whose.first.close(vm.owner().ticket());
        whose.awaitGone(vm);
        vm.close();
    }

    private void receipts(List<String> tickets) throws IOException {
        for (String ticket : tickets) {
            Path file = Files.writeString(
                    folder.resolve(ticket + ".json"), member.said("cat /project/receipts/" + ticket + ".json"));
            Command.Output verified = project.verify(file);
            if (verified.exit() != 0) {
                throw new LabException("receipt of ticket " + ticket + ": " + verified, "keep it and report it");
            }
        }
        claims.holds(
                "each job's receipt says where it ran and what was erased, signed by controlling VM, workers, hosts and relay",
                "agentctl receipt verify: tickets " + String.join(" and ", tickets));
    }

    private void audit() throws IOException {
        List<String> words = new ArrayList<>(List.of("audit", "verify"));
        words.addAll(project.site().auditLog());
        words.addAll(project.first.heads());
        String verified = project.first.agentctl(words.toArray(String[]::new)).succeed();
        claims.require(
                words.contains("--head") && verified.lines().anyMatch(line -> line.matches("holds +yes")),
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
        claims.holds(
                "nothing is left on the hosts",
                "no VM, port, flow, device, folder, disk or job of Slurm's, asked of QEMU, Open vSwitch, the kernel and Slurm");
    }
}
