package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers.SbatchBehaviour;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The relay as a process, and the real Slurm: each ticket has one Global job at most, whoever ends it and whatever is killed
 * in between, and leaves nothing taken. The order only saves time: a time limit takes Slurm half a minute to see.
 */
@Tag("scenario")
@Tag("tickets")
@Timeout(180)
@RotatedScenario({8, 10})
@ExtendWith(SharedLab.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@SuppressWarnings("NullAway.Init") // set before all
class GlobalSlurmTicketsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private static Path folder;

    private static RelayTicketFixture stage;
    private static ScriptedControllerVm vm;
    private static String late;

    @BeforeAll
    static void setUp(Lab lab) throws Exception {
        stage = new RelayTicketFixture(lab, folder);
        vm = stage.vm;
        late = running(1);
        long job = vm.await(late, TicketState.RUNNING).job();
        // Not now, which is over when slurmctld reads it in the next second.
        stage.lab.slurm().client("scontrol", "update", "jobid=" + job, "endtime=now+2");
    }

    @AfterAll
    static void tearDown() throws IOException {
        stage.close();
        stage.lab.slurm().client("scancel", "--user=root");
        stage.lab.slurm().awaitIdle();
    }

    private static void checkWithdrawn(String ticket) throws IOException {
        assertThat(vm.awaitEnd(ticket)).isEqualTo(TicketEnd.WITHDRAWN);
        boolean had = vm.await(ticket, TicketState.ENDED).job() > 0;
        stage.check(ticket, TicketEnd.WITHDRAWN, had ? 1 : 0, 0);
    }

    @AfterEach
    void nothing_is_left() throws IOException {
        stage.programs.sbatch(SbatchBehaviour.AT_ONCE);
        stage.mend();
        stage.checkQuiet(late);
    }

    @Test
    @Order(1)
    void tickets_run_on_their_nodes_and_end_as_their_steps_do() throws Exception {
        String well = running(2);
        String badly = running(1);
        assertThat(stage.hosts)
                .extracting(host -> host.slot(well).orElseThrow().node())
                .containsExactly("h1", "h2");
        stage.steps.finish(well, 0);
        stage.steps.finish(badly, 3);
        stage.check(well, TicketEnd.COMPLETED, 1, 2);
        stage.check(badly, TicketEnd.FAILED, 1, 1);
        assertThat(stage.steps.starts(well)).isEqualTo(2);
        assertThat(stage.events(well))
                .containsSubsequence("ticket.queued", "ticket.running", "slot.given", "slot.given", "slot.claimed");
        assertThat(stage.hosts).allMatch(host -> host.refusals().isEmpty());
    }

    @Test
    @Order(2)
    void the_site_cancels_a_ticket_that_runs_and_one_that_waits() throws Exception {
        String running = running(1);
        stage.hold();
        String queued = vm.order(ScriptedControllerVm.nodes(1));
        for (String each : List.of(running, queued)) {
            long job = vm.await(each, TicketState.QUEUED).job();
            stage.lab.slurm().client("scancel", Long.toString(job));
        }
        stage.check(running, TicketEnd.CANCELLED, 1, 1);
        stage.check(queued, TicketEnd.CANCELLED, 1, 0);
        stage.resume();
    }

    @Test
    @Order(3)
    void an_sbatch_that_answers_late_or_wrongly_makes_one_job() throws Exception {
        List<String> tickets = new ArrayList<>();
        for (SbatchBehaviour answer : List.of(
                SbatchBehaviour.ENQUEUED_AND_LATE, SbatchBehaviour.ENQUEUED_AND_FAILED, SbatchBehaviour.FAILED)) {
            tickets.add(orderWhile(answer));
        }
        stage.programs.sbatch(SbatchBehaviour.AT_ONCE);
        for (String ticket : tickets) {
            stage.awaitSteps(ticket, 1);
            vm.await(ticket, TicketState.RUNNING);
            stage.awaitSlots(ticket, 1);
            stage.steps.finish(ticket, 0);
        }
        for (String ticket : tickets) {
            stage.check(ticket, TicketEnd.COMPLETED, 1, 1);
            assertThat(stage.steps.starts(ticket)).isEqualTo(1);
        }
    }

    @Test
    @Order(4)
    void a_relay_that_is_killed_finds_every_ticket_again() throws Exception {
        String running = running(1);
        String job = running(1);
        stage.hold();
        String queued = vm.order(ScriptedControllerVm.nodes(1));
        vm.await(queued, TicketState.QUEUED);
        String sent = orderWhile(SbatchBehaviour.SLOW);
        vm.await(sent, TicketState.ACCEPTED);
        String unheard = vm.order(ScriptedControllerVm.nodes(1));
        stage.killRelay();
        stage.programs.sbatch(SbatchBehaviour.AT_ONCE);
        stage.steps.finish(job, 0);
        stage.startRelay();
        stage.check(job, TicketEnd.COMPLETED, 1, 1);
        vm.await(sent, TicketState.QUEUED);
        vm.await(unheard, TicketState.QUEUED);
        vm.withdraw(queued);
        stage.check(queued, TicketEnd.WITHDRAWN, 1, 0);
        stage.resume();
        for (String ticket : List.of(running, sent, unheard)) {
            stage.awaitSteps(ticket, 1);
            stage.awaitSlots(ticket, 1);
            stage.steps.finish(ticket, 0);
        }
        for (String ticket : List.of(running, sent, unheard)) {
            stage.check(ticket, TicketEnd.COMPLETED, 1, 1);
        }
    }

    @Test
    @Order(5)
    void a_time_limit_ends_a_ticket() throws Exception {
        stage.check(late, TicketEnd.TIMEOUT, 1, 1);
    }

    @Test
    @Order(6)
    @RotatedScenario(8)
    void its_controlling_vm_withdraws_a_ticket_at_each_phase_with_slurm_and_without() throws Exception {
        String running = running(1);
        stage.hold();
        String queued = vm.order(ScriptedControllerVm.nodes(1));
        vm.await(queued, TicketState.QUEUED);
        String unsent = orderWhile(SbatchBehaviour.FAILED);
        stage.programs.sbatch(SbatchBehaviour.AT_ONCE);
        vm.withdraw(unsent);
        stage.check(unsent, TicketEnd.WITHDRAWN, 0, 0);
        stage.lab.slurm().terminateController();
        String accepted = vm.order(ScriptedControllerVm.nodes(1));
        vm.await(accepted, TicketState.ACCEPTED);
        for (String ticket : List.of(running, queued, accepted)) {
            vm.withdraw(ticket);
        }
        stage.lab.slurm().startController();
        stage.check(running, TicketEnd.WITHDRAWN, 1, 1);
        stage.check(queued, TicketEnd.WITHDRAWN, 1, 0);
        // An sbatch keeps trying for some seconds, and may be heard yet.
        checkWithdrawn(accepted);
        stage.resume();
        String again = running(2);
        vm.withdraw(again);
        stage.check(again, TicketEnd.WITHDRAWN, 1, 2);
        String atOnce = vm.order(ScriptedControllerVm.nodes(1));
        vm.withdraw(atOnce);
        checkWithdrawn(atOnce);
    }

    @Test
    @Order(7)
    void a_node_that_fails_ends_its_tickets_and_its_part_comes_when_it_can() throws Exception {
        String ticket = running(2);
        stage.lab.slurm().killSlurmd("h2");
        stage.lab.slurm().client("scontrol", "update", "nodename=h2", "state=down", "reason=lab");
        stage.check(ticket, TicketEnd.NODE_FAILED, 1, 1);
        stage.steps.finish(ticket, 0);
        stage.check(ticket, TicketEnd.NODE_FAILED, 1, 2);
        stage.lab.slurm().startSlurmd("h2");
        stage.lab.slurm().awaitIdle();
    }

    @Test
    @Order(8)
    void a_slurmctld_that_is_killed_loses_and_doubles_nothing_that_it_had_written_down() throws Exception {
        String running = running(1);
        String job = running(1);
        stage.hold();
        String queued = vm.order(ScriptedControllerVm.nodes(1));
        stage.awaitSaved(vm.await(queued, TicketState.QUEUED).job());
        stage.lab.slurm().killController();
        String accepted = vm.order(ScriptedControllerVm.nodes(1));
        vm.await(accepted, TicketState.ACCEPTED);
        stage.steps.finish(job, 0);
        stage.lab.slurm().startController();
        stage.check(job, TicketEnd.COMPLETED, 1, 1);
        stage.resume();
        for (String ticket : List.of(running, queued, accepted)) {
            stage.awaitSteps(ticket, 1);
            stage.awaitSlots(ticket, 1);
            stage.steps.finish(ticket, 0);
        }
        for (String ticket : List.of(running, queued, accepted)) {
            stage.check(ticket, TicketEnd.COMPLETED, 1, 1);
            assertThat(stage.steps.starts(ticket)).isEqualTo(1);
        }
    }

    /** Slurm's own saving is some seconds behind: a job of these may be gone, and its ticket must not stay for ever. */
    @Test
    @Order(10)
    void a_job_that_slurmctld_forgot_before_it_had_nodes_is_submitted_again() throws Exception {
        stage.hold();
        String ticket = vm.order(ScriptedControllerVm.nodes(1));
        vm.await(ticket, TicketState.QUEUED);
        stage.lab.slurm().killController();
        stage.lab.slurm().startController();
        stage.steps.finish(ticket, 0);
        stage.resume();
        assertThat(vm.awaitEnd(ticket)).isEqualTo(TicketEnd.COMPLETED);
        assertThat(stage.steps.starts(ticket)).isEqualTo(1);
    }

    @Test
    @Order(9)
    void slurm_knows_the_tickets_ids_and_nothing_that_the_project_knows() throws Exception {
        String ticket = running(2);
        String job = Long.toString(vm.await(ticket, TicketState.RUNNING).job());
        stage.awaitSaved(Long.parseLong(job));
        List<String> texts = new ArrayList<>(List.of(
                stage.lab.slurm().client("scontrol", "show", "job", "-d", job),
                stage.lab.slurm().client("scontrol", "write", "batch_script", job, "-"),
                stage.lab.slurm().client("sacct", "-P", "-j", job, "--format=ALL"),
                stage.lab.slurm().accountingRows()));
        stage.steps.finish(ticket, 0);
        stage.check(ticket, TicketEnd.COMPLETED, 1, 2);
        assertThat(texts).allMatch(text -> text.contains(ticket));
        String state = Files.readString(stage.jobState(), StandardCharsets.ISO_8859_1);
        assertThat(state).contains(ticket);
        for (Path each : stage.lab.slurm().folders()) {
            texts.addAll(texts(each));
        }
        for (String marker : stage.markers()) {
            assertThat(texts).as(marker).noneMatch(text -> text.contains(marker));
        }
    }

    private static List<String> texts(Path folder) throws IOException {
        List<String> texts = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                text(file).ifPresent(texts::add);
            }
        }
        return texts;
    }

    /** Files of daemons that live may go while they are read. */
    private static Optional<String> text(Path file) throws IOException {
        try {
            return Optional.of(Files.readString(file, StandardCharsets.ISO_8859_1));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    /** A ticket whose steps run, each with its slot. */
    private static String running(int nodes) throws IOException, GeneralSecurityException {
        String ticket = vm.order(ScriptedControllerVm.nodes(nodes));
        stage.awaitSteps(ticket, nodes);
        vm.await(ticket, TicketState.RUNNING);
        stage.awaitSlots(ticket, nodes);
        return ticket;
    }

    /** A ticket whose sbatch has begun, and answers like that. */
    private static String orderWhile(SbatchBehaviour answer) throws IOException, GeneralSecurityException {
        stage.programs.sbatch(answer);
        int before = stage.programs.submissions();
        String ticket = vm.order(ScriptedControllerVm.nodes(1));
        Poll.until("sbatch", TIMEOUT, "read the relay's log", () -> stage.programs.submissions() > before);
        return ticket;
    }
}
