package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
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

/** agent-host on two hosts, from a ticket to its VM's end. */
@Tag("scenario")
@Tag("host")
@Timeout(600)
@RotatedScenario(10)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class AgentHostTest {
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

    private static String cgroups(LabHost host, ResourceOwner owner) throws IOException {
        String pid = host.command("cat", "/run/libvirt/qemu/" + owner.names().domain() + ".pid")
                .succeed()
                .strip();
        return host.command("cat", "/proc/" + pid + "/cgroup").succeed();
    }

    @Test
    void a_ticket_becomes_a_vm_in_its_jobs_step_and_a_withdrawal_leaves_nothing() throws Exception {
        String ticket = hosts.order(1);
        int number = hosts.all.awaitRunning(ticket);
        LabHost host = lab.hosts().get(number);
        ResourceOwner owner = SiteHosts.owner(hosts.all.vms(number).get(0));
        assertThat(new HostInventory(host).of(owner)).isEqualTo(HostInventory.completeVm());
        assertThat(cgroups(host, owner))
                .contains("/slurm_" + host.name() + "/uid_0/job_" + owner.globalJob() + "/step_0");
        JsonNode rendering = hosts.all.agent(number).hostAnswer("render", ticket);
        assertThat(rendering.path("xml").asText()).contains(owner.uuid());
        assertThat(rendering.path("flows")).isNotEmpty();
        assertThat(hosts.all.agent(number).hostAnswer("status").path("running").asInt())
                .isEqualTo(1);
        stage.vm.withdraw(ticket);
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.WITHDRAWN);
        hosts.awaitPart(ticket);
    }

    @Test
    void a_vm_and_the_step_that_waits_for_it_outlast_an_agent_that_is_killed() throws Exception {
        String ticket = hosts.order(2);
        hosts.all.awaitRunning(ticket);
        Poll.until(
                "VMs on both hosts",
                SiteHosts.LIMIT,
                "read agent-host's logs",
                () -> hosts.all.vms(0).size() == 1 && hosts.all.vms(1).size() == 1);
        ResourceOwner first = SiteHosts.owner(hosts.all.vms(0).get(0));
        hosts.all.agent(0).kill();
        assertThat(new HostInventory(lab.host(1)).of(first)).isEqualTo(HostInventory.completeVm());
        hosts.all.agent(0).start();
        hosts.all.agent(0).awaitReady();
        assertThat(SiteHosts.owner(hosts.all.vms(0).get(0))).isEqualTo(first);
        assertThat(stage.vm.await(ticket, TicketState.RUNNING).state()).isEqualTo(TicketState.RUNNING);
        // The site's hand: by Slurm alone.
        lab.slurm().client("scancel", Long.toString(first.globalJob()));
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.CANCELLED);
        hosts.awaitPart(ticket);
    }

    @Test
    void a_vm_that_crashes_ends_its_job_and_an_operator_can_stop_one() throws Exception {
        String crashed = hosts.order(1);
        int number = hosts.all.awaitRunning(crashed);
        lab.hosts().get(number).command("pkill", "-KILL", "qemu-system").succeed();
        assertThat(stage.vm.awaitEnd(crashed)).isEqualTo(TicketEnd.FAILED);
        hosts.awaitPart(crashed);
        String stopped = hosts.order(1);
        number = hosts.all.awaitRunning(stopped);
        hosts.all
                .agent(number)
                .hostCommand(
                        "stop", SiteHosts.owner(hosts.all.vms(number).get(0)).uuid())
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
        for (LabHost host : lab.hosts()) {
            point(host, image);
        }
        try {
            String ticket = hosts.order(1);
            assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.FAILED);
            Poll.until(
                    "a drained node",
                    SiteHosts.LIMIT,
                    "read agent-host's log",
                    () -> hosts.reasons().contains("cloister: ticket failed: image "));
        } finally {
            for (LabHost host : lab.hosts()) {
                point(host, real);
            }
            hosts.resumeNodes();
        }
    }

    private static void point(LabHost host, Path image) throws IOException {
        Path current = host.folder("images").resolve("current");
        Files.deleteIfExists(current);
        Files.createSymbolicLink(current, image);
    }
}
