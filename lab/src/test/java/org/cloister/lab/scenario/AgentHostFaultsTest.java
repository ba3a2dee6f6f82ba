package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.site.HostInventory;
import org.cloister.lab.site.SiteHosts;
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

/** Behaviour of agent-host when a part that it needs is missing or fails. */
@Tag("scenario")
@Tag("host")
@Timeout(900)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class AgentHostFaultsTest {
    /** Above what the lab's hosts give to scratch disks. */
    private static final int TOO_MUCH_MIB = 5000;

    @TempDir
    private static Path folder;

    private static AgentHosts hosts;
    private static Lab lab;
    private static RelayTicketFixture stage;

    @BeforeAll
    static void setUp(Lab of) throws Exception {
        lab = of;
        hosts = new AgentHosts(lab, folder, Optional.empty());
        stage = hosts.stage;
    }

    @AfterAll
    static void tearDown() throws IOException {
        hosts.close();
    }

    @AfterEach
    void nothing_is_left() throws IOException {
        hosts.all.awaitNothing();
    }

    @Test
    @RotatedScenario(8)
    void without_a_relay_vms_go_on_until_their_time_is_over_and_no_new_ones_begin() throws Exception {
        String first = hosts.order(1);
        int number = hosts.all.awaitRunning(first);
        ResourceOwner owner = SiteHosts.owner(hosts.all.vms(number).get(0));
        stage.hold();
        String second = hosts.order(1);
        long job = stage.vm.await(second, TicketState.QUEUED).job();
        stage.killRelay();
        stage.resume();
        Poll.until(
                "the end of a job that no relay has assigned",
                SiteHosts.LIMIT.multipliedBy(2),
                "read agent-host's log",
                () -> lab.slurm()
                        .client("sacct", "-X", "-n", "-P", "-j", Long.toString(job), "-o", "State")
                        .startsWith("FAILED"));
        assertThat(hosts.all.logs()).contains("ticket " + second + " refused (unavailable)");
        assertThat(new HostInventory(lab.hosts().get(number)).of(owner)).isEqualTo(HostInventory.completeVm());
        assertThat(hosts.reasons()).doesNotContain("cloister");
        lab.slurm().client("scontrol", "update", "jobid=" + owner.globalJob(), "timelimit=1");
        hosts.all.awaitNothing();
        stage.startRelay();
        assertThat(stage.vm.awaitEnd(first)).isEqualTo(TicketEnd.TIMEOUT);
        hosts.awaitPart(first);
        assertThat(stage.vm.awaitEnd(second)).isEqualTo(TicketEnd.FAILED);
    }

    @Test
    void a_second_step_for_a_ticket_gets_no_vm() throws Exception {
        String ticket = hosts.order(1);
        int number = hosts.all.awaitRunning(ticket);
        ResourceOwner owner = SiteHosts.owner(hosts.all.vms(number).get(0));
        LabCommand.Output second = lab.onSite(
                        "srun",
                        "--jobid=" + owner.globalJob(),
                        "--overlap",
                        "--nodes=1",
                        "--ntasks=1",
                        "--mem=0",
                        hosts.agentctl.toString(),
                        "host",
                        "run",
                        ticket)
                .run();
        assertThat(second.exit()).isNotZero();
        assertThat(second.err() + second.out()).contains("used");
        assertThat(hosts.all.vms(number)).hasSize(1);
        assertThat(new HostInventory(lab.hosts().get(number)).of(owner)).isEqualTo(HostInventory.completeVm());
        stage.vm.withdraw(ticket);
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.WITHDRAWN);
    }

    @Test
    @RotatedScenario(9)
    void a_guest_that_never_speaks_ends_and_its_host_is_not_to_blame() throws Exception {
        // From the claim on: too early for a guest under emulation whose agent is to speak.
        hosts.all.restartWith("register = 10");
        try {
            String ticket = hosts.order(1);
            hosts.all.awaitRunning(ticket);
            assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.FAILED);
            hosts.awaitPart(ticket);
            assertThat(hosts.all.logs()).containsPattern("ticket=" + ticket + ".*why=NOT_REGISTERED");
            assertThat(hosts.reasons()).doesNotContain("cloister");
        } finally {
            hosts.all.restartWith("");
        }
    }

    @Test
    @RotatedScenario(9)
    void a_guest_that_hangs_after_its_registration_ends_and_its_host_is_not_to_blame() throws Exception {
        hosts.all.restartWith("unresponsive = 10\nround = 5");
        try {
            String ticket = hosts.order(1);
            int number = hosts.all.awaitRegistered(ticket);
            // QEMU answers nothing, as a guest whose only CPU repeats one instruction.
            lab.hosts().get(number).command("pkill", "-STOP", "qemu-system").succeed();
            Poll.until(
                    "the end of a VM that hangs",
                    SiteHosts.LIMIT.multipliedBy(2),
                    "read agent-host's log",
                    () -> hosts.all.logs().contains("why=UNRESPONSIVE"));
            assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.FAILED);
            hosts.awaitPart(ticket);
            assertThat(hosts.all.logs())
                    .containsPattern("VM .* of ticket " + ticket + ": its agent has had no session");
            assertThat(hosts.reasons()).doesNotContain("cloister");
        } finally {
            hosts.all.restartWith("");
        }
    }

    @Test
    void a_project_that_asks_for_too_much_scratch_is_refused_and_no_host_is_drained_for_it() throws Exception {
        String ticket = hosts.order(1, TOO_MUCH_MIB);
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.FAILED);
        assertThat(hosts.all.logs()).contains("disk full: a VM needs " + ((long) TOO_MUCH_MIB << 20) + " bytes");
        assertThat(hosts.reasons()).doesNotContain("cloister");
    }

    @Test
    @RotatedScenario(6)
    void a_host_whose_folder_of_scratch_disks_is_gone_is_drained_for_it_and_works_again_with_it() throws Exception {
        List<Path> folders = new ArrayList<>();
        for (LabHost host : lab.hosts()) {
            folders.add(AgentHostFiles.scratch(host));
        }
        for (Path scratch : folders) {
            Files.move(scratch, aside(scratch));
        }
        try {
            String ticket = hosts.order(1);
            assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.FAILED);
            Poll.until(
                    "a node drained for its scratch folder",
                    SiteHosts.LIMIT,
                    "read agent-host's log",
                    () -> hosts.reasons().contains("cloister: ")
                            && hosts.reasons().contains("scratch"));
        } finally {
            for (Path scratch : folders) {
                Files.move(aside(scratch), scratch);
            }
        }
        hosts.all.awaitReady();
        hosts.resumeNodes();
        String ticket = hosts.order(1);
        hosts.all.awaitRunning(ticket);
        stage.vm.withdraw(ticket);
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.WITHDRAWN);
    }

    private static Path aside(Path folder) {
        return folder.resolveSibling("scratch-aside");
    }
}
