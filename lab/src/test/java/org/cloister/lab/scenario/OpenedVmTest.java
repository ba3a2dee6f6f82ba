package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.LeaseHolder;
import org.cloister.host.drive.LeaseWait;
import org.cloister.host.drive.SharedDrives;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.site.HostInventory;
import org.cloister.lab.site.SiteHosts;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * A project's controlling VM on one of two hosts that share the storage of its drive, from an opening to its end: the real
 * relay, Slurm with its cgroups, libvirt, QEMU and Open vSwitch. The guest boots and nobody in it speaks.
 */
@Tag("scenario")
@Tag("host")
@Timeout(600)
@RotatedScenario(4)
@ExtendWith(SharedLab.class)
@SuppressWarnings({"NullAway.Init", "FutureReturnValueIgnored"}) // set before all; the loop ends with the process
class OpenedVmTest {
    private static final Duration LIMIT = SiteHosts.LIMIT;
    private static final int DAY = 1440;
    private static final String DRIVE = "main";
    private static final int DRIVE_MIB = 16;
    private static final int MEMORY_MIB = 1500;
    /** Slurm looks at time limits twice a minute. */
    private static final Duration TIME_LIMIT = Duration.ofMinutes(3);

    @TempDir
    private static Path folder;

    private static Lab lab;
    private static AgentHosts agents;
    private static RelayTicketFixture stage;
    private static ScriptedOpenerDevice person;
    private static long epoch;
    private static Path drives;
    private static final EventLoopGroup LOOPS = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    @BeforeAll
    static void setUp(Lab of) throws Exception {
        lab = of;
        drives = Files.createDirectories(lab.slurm().programs().folder().resolve("drives"));
        Files.createFile(drives.resolve(SharedDrives.MARK));
        agents = new AgentHosts(lab, folder, Optional.of(drives));
        stage = agents.stage;
        person = new ScriptedOpenerDevice(stage.site);
        person.enter(LOOPS, stage.port());
    }

    @AfterAll
    static void tearDown() throws IOException {
        agents.close();
        LOOPS.shutdownGracefully();
    }

    @AfterEach
    void nothing_is_left_but_the_drive() throws IOException {
        for (LabHost host : lab.hosts()) {
            lab.onSite("scontrol", "update", "nodename=" + host.name(), "state=resume")
                    .run();
        }
        agents.all.awaitNothing();
        Poll.until("a drive that nobody has", LIMIT, "read agent-host's logs", () -> !lease().has("host"));
        assertThat(Files.size(drive(".img"))).isEqualTo(DRIVE_MIB << 20);
    }

    /** By the next epoch. */
    private static String open() throws Exception {
        epoch++;
        Instant now = Instant.now();
        Opening opening = new Opening(
                Ticket.newId(new SecureRandom()),
                stage.site.opener().project(),
                epoch,
                now,
                now.plus(Duration.ofMinutes(30)),
                DRIVE,
                DRIVE_MIB,
                1,
                MEMORY_MIB,
                DAY);
        person.open(stage.site, stage.site.opener(), opening);
        return opening.id();
    }

    private static Path drive(String end) {
        return drives.resolve(stage.site.opener().project()).resolve(DRIVE + end);
    }

    private static JsonNode lease() throws IOException {
        return new ObjectMapper().readTree(Files.readAllBytes(drive(".lease")));
    }

    private static String name(int agent) {
        return lab.hosts().get(agent).name() + ".host.site.cloister.internal";
    }

    private static ResourceOwner owner(int agent) throws IOException {
        return SiteHosts.owner(agents.all.vms(agent).get(0));
    }

    private static void cancel(ResourceOwner owner) throws IOException {
        lab.slurm().client("scancel", Long.toString(owner.globalJob()));
    }

    /** Its jobs go to the other host; what runs there goes on. */
    private static void drain(int agent) throws IOException {
        lab.slurm()
                .client(
                        "scontrol",
                        "update",
                        "nodename=" + lab.hosts().get(agent).name(),
                        "state=drain",
                        "reason=scenario");
    }

    private static Set<String> whole() {
        Set<String> whole = new TreeSet<>(HostInventory.completeVm());
        whole.remove("scratch");
        return whole;
    }

    private static void assertHeld(String opening, int agent) throws IOException {
        JsonNode lease = lease();
        assertThat(lease.path("epoch").asLong()).isEqualTo(epoch);
        assertThat(lease.path("host").asText()).isEqualTo(name(agent));
        assertThat(lease.path("opening").asText()).isEqualTo(opening);
        assertThat(lease.has("before")).isFalse();
    }

    @Test
    void an_opening_becomes_a_vm_with_its_drive_and_the_next_host_has_it_when_its_job_is_cancelled() throws Exception {
        String first = open();
        int there = agents.all.awaitRunning(first);
        LabHost host = lab.hosts().get(there);
        ResourceOwner owner = owner(there);
        assertThat(new HostInventory(host).of(owner)).isEqualTo(whole());
        assertHeld(first, there);
        JsonNode vm = agents.all.vms(there).get(0);
        // The first of a network of 28 bits.
        String address = vm.path("address").asText();
        assertThat(Integer.parseInt(address.substring(address.lastIndexOf('.') + 1)) % 16)
                .isOne();
        JsonNode rendering = agents.all.agent(there).hostAnswer("render", first);
        assertThat(rendering.path("xml").asText())
                .contains("<serial>drive</serial>")
                .contains(drive(".img").toString());
        assertThat(rendering.path("flows")).isNotEmpty();
        drain(there);
        cancel(owner);
        assertThat(person.awaitEnd(first)).isEqualTo(TicketEnd.CANCELLED);
        long startNs = System.nanoTime();
        String second = open();
        int other = agents.all.awaitRunning(second);
        assertThat(other).isNotEqualTo(there);
        assertHeld(second, other);
        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(LIMIT);
        cancel(owner(other));
        assertThat(person.awaitEnd(second)).isEqualTo(TicketEnd.CANCELLED);
        // Controlling VMs are in no receipt.
        for (LabHost each : lab.hosts()) {
            try (Stream<Path> parts = Files.list(AgentHostFiles.state(each).resolve("receipts"))) {
                assertThat(parts).isEmpty();
            }
        }
    }

    @Test
    void a_later_opening_ends_the_one_before_and_has_its_drive_on_another_host() throws Exception {
        String first = open();
        int there = agents.all.awaitRunning(first);
        drain(there);
        assertThat(new HostInventory(lab.hosts().get(there)).of(owner(there))).isEqualTo(whole());
        String second = open();
        assertThat(person.awaitEnd(first)).isEqualTo(TicketEnd.SUPERSEDED);
        int other = agents.all.awaitRunning(second);
        assertThat(other).isNotEqualTo(there);
        assertHeld(second, other);
        cancel(owner(other));
        person.awaitEnd(second);
    }

    @Test
    void an_agent_that_is_killed_goes_on_holding_the_drive_of_its_vm_when_it_is_started() throws Exception {
        String opening = open();
        int there = agents.all.awaitRunning(opening);
        ResourceOwner owner = owner(there);
        agents.all.agent(there).kill();
        assertThat(new HostInventory(lab.hosts().get(there)).of(owner)).isEqualTo(whole());
        agents.all.agent(there).start();
        agents.all.agent(there).awaitReady();
        assertThat(owner(there)).isEqualTo(owner);
        assertHeld(opening, there);
        cancel(owner);
        assertThat(person.awaitEnd(opening)).isEqualTo(TicketEnd.CANCELLED);
    }

    @Test
    void a_host_whose_agent_is_dead_keeps_its_lease_until_it_has_aged() throws Exception {
        String first = open();
        int there = agents.all.awaitRunning(first);
        ResourceOwner owner = owner(there);
        agents.all.agent(there).kill();
        drain(there);
        // Slurm takes the step away, and QEMU with it.
        cancel(owner);
        assertThat(person.awaitEnd(first)).isEqualTo(TicketEnd.CANCELLED);
        assertHeld(first, there);
        String second = open();
        Poll.until(
                "a taker",
                LIMIT,
                "read agent-host's log",
                () -> lease().path("opening").asText().equals(second));
        long startNs = System.nanoTime();
        assertThat(lease().path("before").get(0).path("host").asText()).isEqualTo(name(there));
        int other = 1 - there;
        assertThat(agents.all.vms(other)).isEmpty();
        Poll.until(
                "a VM",
                LIMIT,
                "read agent-host's log",
                () -> !agents.all.vms(other).isEmpty());
        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isGreaterThan(AgentHostFiles.DRIVE.minusSeconds(3));
        agents.all.agent(there).start();
        agents.all.agent(there).awaitReady();
        assertThat(agents.all.awaitRunning(second)).isEqualTo(other);
        assertHeld(second, other);
        cancel(owner(other));
        person.awaitEnd(second);
    }

    @Test
    void the_jobs_time_limit_ends_the_vm_and_lets_go_of_its_drive() throws Exception {
        String opening = open();
        int there = agents.all.awaitRunning(opening);
        lab.slurm().client("scontrol", "update", "jobid=" + owner(there).globalJob(), "endtime=now+2");
        Poll.until(
                "the time limit",
                TIME_LIMIT,
                "read slurmctld's log",
                () -> agents.all.vms(there).isEmpty());
        assertThat(person.awaitEnd(opening)).isEqualTo(TicketEnd.TIMEOUT);
    }

    @Test
    void a_drive_that_a_lost_qemu_still_writes_to_starts_no_second_vm_and_drains_no_host() throws Exception {
        String first = open();
        cancel(owner(agents.all.awaitRunning(first)));
        person.awaitEnd(first);
        Poll.until("a drive that nobody has", LIMIT, "read agent-host's logs", () -> !lease().has("host"));
        ChildProcess lost = ChildProcess.start(
                "qemu",
                folder,
                List.of(
                        "qemu-system-x86_64",
                        "-accel",
                        "tcg",
                        "-S",
                        "-nodefaults",
                        "-display",
                        "none",
                        "-drive",
                        "if=virtio,format=raw,file=" + drive(".img")));
        try {
            String second = open();
            assertThat(person.awaitEnd(second)).isEqualTo(TicketEnd.FAILED);
        } finally {
            lost.close();
        }
        String log = Files.readString(agents.all.agent(0).log())
                + Files.readString(agents.all.agent(1).log());
        assertThat(log).contains("Failed to get \"write\" lock");
        assertThat(lab.slurm().client("sinfo", "-h", "-R")).isBlank();
    }

    @Test
    void a_storage_that_is_gone_ends_the_vm_and_drains_no_host() throws Exception {
        String opening = open();
        int there = agents.all.awaitRunning(opening);
        Files.delete(drives.resolve(SharedDrives.MARK));
        assertThat(person.awaitEnd(opening)).isEqualTo(TicketEnd.FAILED);
        assertThat(Files.readString(agents.all.agent(there).log())).contains("DRIVE_SILENT");
        assertThat(lease().path("host").asText()).isEqualTo(name(there));
        assertThat(lab.slurm().client("sinfo", "-h", "-R")).isBlank();
        Files.createFile(drives.resolve(SharedDrives.MARK));
    }

    /** A host that this relay does not know, by an opening that it did not take. */
    @Test
    void a_vm_ends_whose_drive_another_host_was_given() throws Exception {
        String opening = open();
        int there = agents.all.awaitRunning(opening);
        ResourceOwner owner = owner(there);
        SharedDrives elsewhere = new SharedDrives(drives, "h9.host.site.cloister.internal", AgentHostFiles.DRIVE);
        DriveName drive = new DriveName(stage.site.opener().project(), DRIVE);
        epoch++;
        LeaseHolder taker = elsewhere.holder(epoch, Ticket.newId(new SecureRandom()));
        try {
            assertThat(elsewhere.acquire(drive, taker, 0, patience())).isTrue();
            assertThat(new HostInventory(lab.hosts().get(there)).of(owner))
                    .as("of the VM, when the other one may write")
                    .isEmpty();
        } finally {
            elsewhere.release(drive, taker);
        }
        assertThat(person.awaitEnd(opening)).isEqualTo(TicketEnd.FAILED);
        assertThat(Files.readString(agents.all.agent(there).log())).contains("DRIVE_TAKEN");
        assertThat(lab.slurm().client("sinfo", "-h", "-R")).isBlank();
    }

    private static LeaseWait patience() {
        long endNs = System.nanoTime() + LIMIT.toNanos();
        return new LeaseWait() {
            @Override
            public long nowNs() {
                return System.nanoTime();
            }

            @Override
            public boolean pause(Duration time) throws InterruptedException {
                TimeUnit.NANOSECONDS.sleep(time.toNanos());
                return nowNs() - endNs < 0;
            }
        };
    }
}
