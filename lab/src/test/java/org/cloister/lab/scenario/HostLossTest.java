package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.host.CgroupJobStep;
import org.cloister.lab.host.HostVmPlans;
import org.cloister.lab.site.HostInventory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A VM that loses what it cannot be without is ended, and all of it is gone; what can be made again is made again. */
@Tag("scenario")
@Tag("host")
@Timeout(300)
@RotatedScenario(8)
@ExtendWith(SharedLab.class)
class HostLossTest {
    private static final AtomicInteger NUMBERS = new AtomicInteger(30_000);

    private final LabHost host;
    private final HostInventory inventory;
    private HostProcess agent;
    private CgroupJobStep step;
    private ResourceOwner owner;

    HostLossTest(Lab lab) throws IOException {
        host = lab.host(1);
        inventory = new HostInventory(host);
    }

    @BeforeEach
    void a_vm_runs() throws IOException {
        inventory.createForeignObjects();
        agent = HostProcess.start(host, Duration.ofSeconds(1), "");
        agent.await("settled 0");
        int number = NUMBERS.incrementAndGet();
        step = CgroupJobStep.start(host, number);
        owner = HostVmPlans.owner(number, number);
        agent.send("build " + number + " " + step.pid());
        agent.await("built ");
        agent.send("register " + number);
        agent.await("registered");
        assertThat(inventory.of(owner)).isEqualTo(HostInventory.completeVm());
    }

    @AfterEach
    void tearDown() throws IOException {
        agent.close();
        step.close();
        inventory.close();
    }

    @Test
    void its_domain_destroyed_by_somebody() throws IOException {
        host.libvirt().virsh("destroy", owner.names().domain());
        awaitGone("DIED");
    }

    @Test
    void its_process_killed() throws IOException {
        host.command("kill", "-KILL", process()).succeed();
        awaitGone("DIED");
    }

    @Test
    void its_cpus_stopped_by_somebody() throws IOException {
        host.libvirt().virsh("suspend", owner.names().domain());
        awaitGone("STOPPED");
    }

    @Test
    void its_process_taken_out_of_its_step() throws IOException {
        host.command("sh", "-c", "echo " + process() + " > /sys/fs/cgroup/memory/cgroup.procs")
                .succeed();
        agent.send("ring");
        awaitGone("STEP_GONE");
    }

    @Test
    void its_tap_deleted() throws IOException {
        host.command("ip", "link", "delete", owner.names().tap()).succeed();
        agent.send("ring");
        awaitGone("LOST");
    }

    @Test
    void its_folder_deleted() throws IOException {
        LabHome.delete(
                AgentHostFiles.state(host).resolve("vms").resolve(owner.names().domain()));
        agent.send("ring");
        awaitGone("LOST");
    }

    /** Of people's making, and no reason to end anybody: it goes with its VM, whose name it has. */
    @Test
    void its_plan_made_unreadable() throws IOException {
        Path plan = AgentHostFiles.state(host)
                .resolve("vms")
                .resolve(owner.names().domain())
                .resolve("vm.json");
        Files.writeString(plan, "}", StandardCharsets.US_ASCII, StandardOpenOption.APPEND);
        agent.send("ring");
        agent.await("settled 1");
        assertThat(inventory.of(owner)).isEqualTo(HostInventory.completeVm());
        step.stop();
        awaitGone("DOMAIN_GONE|DIED|STEP_GONE");
    }

    @Test
    void its_port_deleted_is_there_again() throws IOException {
        host.ovs().vsctl("del-port", "br-secure", owner.names().tap());
        agent.send("ring");
        agent.await("settled 1");
        assertThat(inventory.of(owner)).isEqualTo(HostInventory.completeVm());
        assertThat(inventory.bridgeDifferences()).isEmpty();
    }

    private void awaitGone(String why) throws IOException {
        assertThat(agent.await("ended ")).containsPattern("why=(" + why + ")");
        agent.await("settled 0");
        assertThat(inventory.all()).isEmpty();
        assertThat(inventory.bridgeDifferences()).isEmpty();
        assertThat(inventory.isForeignThere()).isTrue();
    }

    private String process() throws IOException {
        return host.command("cat", "/run/libvirt/qemu/" + owner.names().domain() + ".pid")
                .succeed()
                .strip();
    }
}
