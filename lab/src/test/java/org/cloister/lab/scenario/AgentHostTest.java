package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.host.vm.VmOwner;
import org.cloister.lab.Host;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.protocol.ticket.ResourceRequest;
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
 * agent-host on two hosts, from a ticket to its VM's end: the real relay, Slurm with its cgroups, libvirt, QEMU and Open
 * vSwitch. The guest boots and nobody in it speaks.
 */
@Tag("scenario")
@Tag("host")
@Timeout(600)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class AgentHostTest {
    private static final Duration LIMIT = AgentHosts.LIMIT;
    private static final int MEMORY_MIB = 1500;
    private static final int SCRATCH_MIB = 64;

    @TempDir
    private static Path folder;

    private static Lab lab;
    private static AgentHosts agents;
    private static TicketStage stage;

    @BeforeAll
    static void begin(Lab of) throws Exception {
        lab = of;
        agents = new AgentHosts(lab, folder, Optional.empty());
        stage = agents.stage;
    }

    @AfterAll
    static void end() throws IOException {
        agents.close();
    }

    @AfterEach
    void nothing_is_left() throws IOException {
        agents.awaitNothing();
    }

    private static String order(int nodes) throws Exception {
        return stage.vm.order(new ResourceRequest(
                nodes, OptionalInt.of(nodes), 1, OptionalInt.of(1), MEMORY_MIB, SCRATCH_MIB, false, 10, List.of()));
    }

    private static String cgroups(Host host, VmOwner owner) throws IOException {
        String pid = host.command("cat", "/run/libvirt/qemu/" + owner.name().domain() + ".pid")
                .succeed()
                .strip();
        return host.command("cat", "/proc/" + pid + "/cgroup").succeed();
    }

    @Test
    void a_ticket_becomes_a_vm_in_its_jobs_step_and_a_withdrawal_leaves_nothing() throws Exception {
        String ticket = order(1);
        int number = agents.awaitRunning(ticket);
        Host host = lab.hosts().get(number);
        VmOwner owner = AgentHosts.owner(agents.vms(number).get(0));
        assertThat(new HostEyes(host).of(owner)).isEqualTo(HostEyes.whole());
        assertThat(cgroups(host, owner))
                .contains("/slurm_" + host.name() + "/uid_0/job_" + owner.globalJob() + "/step_0");
        JsonNode rendering = agents.agent(number).answer("render", ticket);
        assertThat(rendering.path("xml").asText()).contains(owner.uuid());
        assertThat(rendering.path("flows")).isNotEmpty();
        assertThat(agents.agent(number).answer("status").path("running").asInt())
                .isEqualTo(1);
        stage.vm.withdraw(ticket);
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.WITHDRAWN);
        awaitPart(ticket);
    }

    /** What the host signs when nothing of the VM is left. */
    private static void awaitPart(String ticket) throws IOException {
        Poll.until(
                "the host's part of the receipt of " + ticket,
                LIMIT,
                "read agent-host's log",
                () -> stage.vm.parts(ticket).contains(0));
    }

    @Test
    void a_vm_and_the_step_that_waits_for_it_outlast_an_agent_that_is_killed() throws Exception {
        String ticket = order(2);
        agents.awaitRunning(ticket);
        Poll.until(
                "VMs on both hosts",
                LIMIT,
                "read agent-host's logs",
                () -> agents.vms(0).size() == 1 && agents.vms(1).size() == 1);
        VmOwner first = AgentHosts.owner(agents.vms(0).get(0));
        agents.agent(0).kill();
        assertThat(new HostEyes(lab.host(1)).of(first)).isEqualTo(HostEyes.whole());
        agents.agent(0).start();
        agents.agent(0).awaitReady();
        assertThat(AgentHosts.owner(agents.vms(0).get(0))).isEqualTo(first);
        assertThat(stage.vm.await(ticket, TicketState.RUNNING).state()).isEqualTo(TicketState.RUNNING);
        // The site's hand: by Slurm alone.
        lab.slurm().client("scancel", Long.toString(first.globalJob()));
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.CANCELLED);
        awaitPart(ticket);
    }

    @Test
    void a_vm_that_crashes_ends_its_job_and_an_operator_can_stop_one() throws Exception {
        String crashed = order(1);
        int number = agents.awaitRunning(crashed);
        lab.hosts().get(number).command("pkill", "-KILL", "qemu-system").succeed();
        assertThat(stage.vm.awaitEnd(crashed)).isEqualTo(TicketEnd.FAILED);
        awaitPart(crashed);
        String stopped = order(1);
        number = agents.awaitRunning(stopped);
        agents.agent(number)
                .ask("stop", AgentHosts.owner(agents.vms(number).get(0)).uuid())
                .succeed();
        assertThat(stage.vm.awaitEnd(stopped)).isEqualTo(TicketEnd.FAILED);
    }

    @Test
    void an_image_that_was_altered_starts_no_vm_and_its_host_is_drained_for_it() throws Exception {
        Path image = Files.createDirectories(lab.slurm().programs().folder().resolve("altered"));
        Path real = lab.host(1).folder("images").resolve("current").toRealPath();
        try (var files = Files.list(real)) {
            for (Path each : files.toList()) {
                Files.copy(each, image.resolve(each.getFileName().toString()));
            }
        }
        Path kernel;
        try (var files = Files.list(image)) {
            kernel = files.filter(each -> !each.toString().endsWith(".json"))
                    .sorted()
                    .toList()
                    .get(0);
        }
        Files.write(kernel, new byte[] {1}, StandardOpenOption.APPEND);
        for (Host host : lab.hosts()) {
            point(host, image);
        }
        try {
            String ticket = order(1);
            assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.FAILED);
            Poll.until(
                    "a drained node",
                    LIMIT,
                    "read agent-host's log",
                    () -> lab.slurm()
                            .client("sinfo", "-h", "-R", "-o", "%E")
                            .contains("cloister: ticket failed: image "));
        } finally {
            for (Host host : lab.hosts()) {
                point(host, real);
            }
            // As an administrator who has seen to it.
            String drained = lab.slurm().client("sinfo", "-h", "-R", "-o", "%N").strip();
            if (!drained.isEmpty()) {
                lab.slurm().client("scontrol", "update", "nodename=" + drained, "state=resume");
            }
        }
    }

    private static void point(Host host, Path image) throws IOException {
        Path current = host.folder("images").resolve("current");
        Files.deleteIfExists(current);
        Files.createSymbolicLink(current, image);
    }
}
