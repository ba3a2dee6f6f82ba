package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers.SbatchBehaviour;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * An opener's device at the relay as a process, before the real Slurm: a project has one controlling VM at a time, in the
 * partition for them, whoever ends it and whatever is killed in between.
 */
@Tag("scenario")
@Tag("tickets")
@Timeout(180)
@RotatedScenario(4)
@ExtendWith(SharedLab.class)
@SuppressWarnings({"NullAway.Init", "FutureReturnValueIgnored"}) // set before all; loops end after the test
class ControllerOpeningTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private static Path folder;

    private static RelayTicketFixture stage;
    private static ScriptedOpenerDevice person;
    private static EventLoopGroup loops;
    /** The highest that was taken. */
    private static long epoch;

    @BeforeAll
    static void setUp(Lab lab) throws Exception {
        stage = new RelayTicketFixture(lab, folder);
        person = new ScriptedOpenerDevice(stage.site);
        loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        person.enter(loops, stage.port());
    }

    @AfterAll
    static void tearDown() throws IOException {
        loops.shutdownGracefully();
        stage.close();
        stage.lab.slurm().client("scancel", "--user=root");
        stage.lab.slurm().awaitIdle();
    }

    @AfterEach
    void nothing_is_left() throws IOException {
        stage.programs.sbatch(SbatchBehaviour.AT_ONCE);
        partition("up");
        stage.mend();
        stage.checkQuiet("none");
        assertThat(stage.hosts).allMatch(host -> host.refusals().isEmpty());
    }

    private static void partition(String state) throws IOException {
        stage.lab.slurm().client("scontrol", "update", "partitionname=controllers", "state=" + state);
    }

    private static String open() throws Exception {
        epoch++;
        return person.open(epoch);
    }

    /** An opening whose step runs with its slot. */
    private static String running() throws Exception {
        String opening = open();
        awaitRunning(opening);
        return opening;
    }

    private static void awaitRunning(String opening) throws IOException {
        stage.awaitSteps(opening, 1);
        person.await(opening, TicketState.RUNNING);
        stage.awaitSlots(opening, 1);
    }

    private static AllocatedSlot slot(String opening) {
        return stage.hosts.stream()
                .flatMap(host -> host.slot(opening).stream())
                .findFirst()
                .orElseThrow();
    }

    /** What accounting says of its one job, once it has heard of it. */
    private static String accounted(String ticket, String column) throws IOException {
        Poll.until(
                ticket + " in accounting",
                TIMEOUT,
                "read slurmdbd's log",
                () -> !stage.lab.slurm().jobs(ticket).isEmpty());
        return stage.lab
                .slurm()
                .client("sacct", "-X", "-n", "-P", "--starttime=now-1days", "--format=" + column, "--name=" + ticket)
                .strip();
    }

    /** It ended so, and had so many jobs; if it had one, its host's part came. */
    private static void check(String opening, TicketEnd end, int jobs, int parts) throws IOException {
        assertThat(person.awaitEnd(opening)).as(opening).isEqualTo(end);
        assertThat(stage.lab.slurm().awaitOver(opening, jobs)).hasSize(jobs);
        Poll.until(
                "the part of " + opening,
                TIMEOUT,
                "read the relay's log",
                () -> stage.hosts.stream()
                                .filter(host -> host.hasReported(opening))
                                .count()
                        == parts);
        stage.checkRecords(opening, jobs, parts);
        assertThat(stage.events(opening).get(0)).isEqualTo("opening.accepted");
    }

    private static void refused(TicketClause clause) throws Exception {
        RelayTicketMessage.Refused refused = person.refused();
        assertThat(refused.clause()).as(refused.text()).isEqualTo(clause);
    }

    @Test
    void it_runs_in_the_partition_for_controlling_VMs_and_has_the_first_address() throws Exception {
        String opening = running();
        RelayTicketMessage.Update update = person.await(opening, TicketState.RUNNING);
        assertThat(accounted(opening, "Partition")).isEqualTo("controllers");
        Allocation allocation = allocation(update);
        assertThat(slot(opening).address()).isEqualTo(allocation.network().controller());

        String ticket = stage.vm.order(ScriptedControllerVm.nodes(1));
        stage.awaitSteps(ticket, 1);
        RelayTicketMessage.Update running = stage.vm.await(ticket, TicketState.RUNNING);
        stage.awaitSlots(ticket, 1);
        assertThat(allocation(running).vlan()).isEqualTo(allocation.vlan());
        assertThat(slot(ticket).address()).isNotEqualTo(slot(opening).address());
        assertThat(accounted(ticket, "Partition")).isEqualTo("secure");
        stage.steps.finish(ticket, 0);
        stage.check(ticket, TicketEnd.COMPLETED, 1, 1);

        stage.steps.finish(opening, 0);
        check(opening, TicketEnd.COMPLETED, 1, 1);
        assertThat(stage.steps.starts(opening)).isEqualTo(1);
    }

    private static Allocation allocation(RelayTicketMessage.Update update) throws IOException {
        byte[] envelope = update.allocation().toByteArray();
        return AllocationVerifier.read(envelope, stage.hosts.get(0).relay());
    }

    @Test
    void a_later_epoch_ends_the_one_before_and_only_then_runs() throws Exception {
        String first = running();
        String second = open();
        awaitRunning(second);
        check(first, TicketEnd.SUPERSEDED, 1, 1);
        assertThat(accounted(second, "Submit"))
                .as("submitted when the first had ended")
                .isGreaterThanOrEqualTo(accounted(first, "End"));
        assertThat(slot(second).address()).isEqualTo(slot(first).address());

        partition("down");
        String third = open();
        person.await(third, TicketState.QUEUED);
        check(second, TicketEnd.SUPERSEDED, 1, 1);
        String fourth = open();
        check(third, TicketEnd.SUPERSEDED, 1, 0);
        partition("up");
        awaitRunning(fourth);
        assertThat(stage.steps.starts(third)).isZero();
        stage.steps.finish(fourth, 3);
        check(fourth, TicketEnd.FAILED, 1, 1);
    }

    @Test
    void a_lower_epoch_a_member_another_project_and_a_project_without_quota_open_nothing() throws Exception {
        String project = stage.site.opener().project();
        String opening = running();
        person.open(epoch);
        refused(TicketClause.SEQUENCE);
        person.open(stage.site, stage.site.member(), ScriptedOpenerDevice.opening(project, epoch + 1));
        refused(TicketClause.SIGNATURE);
        person.open(stage.site, stage.site.controller(), ScriptedOpenerDevice.opening(project, epoch + 1));
        refused(TicketClause.SIGNATURE);
        RelaySiteFiles other = RelaySiteFiles.create(Files.createDirectory(folder.resolve("other")), 0);
        String theirs = other.opener().project();
        person.open(other, other.opener(), ScriptedOpenerDevice.opening(theirs, epoch + 1));
        refused(TicketClause.SIGNATURE);
        person.open(stage.site, stage.site.opener(), ScriptedOpenerDevice.opening(theirs, epoch + 1));
        refused(TicketClause.PROJECT);
        stage.site.starve();
        person.open(epoch + 1);
        refused(TicketClause.QUOTA);
        stage.site.feed();
        person.ask(opening);
        assertThat(person.await(opening, TicketState.RUNNING).end())
                .as("none of them ended it")
                .isEmpty();
        stage.steps.finish(opening, 0);
        check(opening, TicketEnd.COMPLETED, 1, 1);
    }

    @Test
    void the_site_cancels_it_and_an_opener_closes_it_at_each_phase() throws Exception {
        String cancelled = running();
        long job = person.await(cancelled, TicketState.RUNNING).job();
        stage.lab.slurm().client("scancel", Long.toString(job));
        check(cancelled, TicketEnd.CANCELLED, 1, 1);
        String closed = running();
        person.close(closed);
        check(closed, TicketEnd.WITHDRAWN, 1, 1);
        person.close(closed);
        person.await(closed, TicketState.ENDED);
        partition("down");
        String queued = open();
        person.await(queued, TicketState.QUEUED);
        person.close(queued);
        check(queued, TicketEnd.WITHDRAWN, 1, 0);
    }

    @Test
    void a_relay_that_is_killed_between_two_openings_ends_the_first_and_runs_the_second() throws Exception {
        String first = running();
        stage.lab.slurm().terminateController();
        String skipped = open();
        person.await(skipped, TicketState.ACCEPTED);
        String second = open();
        person.await(second, TicketState.ACCEPTED);
        stage.killRelay();
        stage.lab.slurm().startController();
        startRelay(List.of(first, skipped, second));
        check(first, TicketEnd.SUPERSEDED, 1, 1);
        assertThat(person.awaitEnd(skipped)).isEqualTo(TicketEnd.SUPERSEDED);
        assertThat(stage.lab.slurm().jobs(skipped)).isEmpty();
        awaitRunning(second);
        assertThat(stage.lab.slurm().awaitOver(first, 1)).hasSize(1);

        stage.programs.sbatch(SbatchBehaviour.SLOW);
        int before = stage.programs.submissions();
        String third = open();
        Poll.until("sbatch", TIMEOUT, "read the relay's log", () -> stage.programs.submissions() > before);
        stage.killRelay();
        stage.programs.sbatch(SbatchBehaviour.AT_ONCE);
        startRelay(List.of(second, third));
        check(second, TicketEnd.SUPERSEDED, 1, 1);
        awaitRunning(third);
        person.open(epoch);
        refused(TicketClause.SEQUENCE);
        stage.steps.finish(third, 0);
        check(third, TicketEnd.COMPLETED, 1, 1);
        assertThat(stage.steps.starts(third)).isEqualTo(1);
    }

    private static void startRelay(List<String> openings) throws IOException {
        stage.startRelay();
        person.enter(loops, stage.port());
        openings.forEach(person::ask);
    }
}
