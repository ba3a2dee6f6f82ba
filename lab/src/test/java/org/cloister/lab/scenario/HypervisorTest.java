package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.base.address.MacAddress;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.DirectKernelBoot;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.ObservedDomain;
import org.cloister.host.domain.SevCapabilities;
import org.cloister.host.libvirt.DomainList;
import org.cloister.host.libvirt.Hypervisor;
import org.cloister.host.libvirt.HypervisorContract;
import org.cloister.host.libvirt.HypervisorUnavailable;
import org.cloister.host.libvirt.LibvirtHypervisor;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A host's own libvirtd and QEMU keep what agent-host needs of them, and a real guest starts from our description. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@RotatedScenario(8)
@ExtendWith(SharedLab.class)
class HypervisorTest extends HypervisorContract {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration BOOT_LIMIT = Duration.ofMinutes(2);
    /** Said by the image's init when all layers are mounted. */
    private static final String USER_SPACE = "cloister: user space";

    private static final int MEMORY_MIB = 512;
    private static final int SCRATCH_BYTES = 64 << 20;

    private final LabHost host;
    private final Path image = LabHome.fromEnvironment().image("lab");
    private final Hypervisor hypervisor;
    private final List<String> taps = new ArrayList<>();
    private boolean console;

    HypervisorTest(Lab lab) throws IOException {
        this.host = lab.host(1);
        this.hypervisor = new LibvirtHypervisor(host.libvirt().uri(), LIMIT);
    }

    @Override
    protected Hypervisor hypervisor() {
        return hypervisor;
    }

    @Override
    protected DomainSpec spec(ResourceOwner owner) throws IOException {
        CpuPlacement cpus = new CpuPlacement(2, CpuSet.parse("0-1"), OptionalInt.empty());
        String tap = owner.names().tap();
        if (!taps.contains(tap)) {
            host.command("ip", "tuntap", "add", "dev", tap, "mode", "tap", "multi_queue")
                    .succeed();
            taps.add(tap);
        }
        Path folder = Files.createDirectories(owner.names().folder(host.folder("vms")));
        Path scratch = folder.resolve(owner.uuid() + ".raw");
        try (RandomAccessFile file = new RandomAccessFile(scratch.toFile(), "rw")) {
            file.setLength(SCRATCH_BYTES);
        }
        ImageManifest manifest = ImageManifest.load(image);
        List<DomainDisk> disks = new ArrayList<>(DirectKernelBoot.layers(manifest, image));
        disks.add(new DomainDisk(scratch, "scratch", DomainDisk.Use.WRITABLE));
        return new DomainSpec(
                owner,
                Accelerator.TCG,
                DirectKernelBoot.of(manifest, image),
                cpus,
                MEMORY_MIB,
                MemoryBacking.PLAIN,
                disks,
                new MacAddress("52:54:00:4d:00:0" + owner.slot()),
                folder.resolve("channel"),
                false,
                Optional.empty(),
                console ? Optional.of(folder.resolve("console.log")) : Optional.empty());
    }

    @Override
    protected void destroyFromOutside(String name) throws IOException {
        host.libvirt().virsh("destroy", name);
    }

    @Override
    protected void crash(String name) throws IOException {
        host.command("kill", "-KILL", process(name)).succeed();
    }

    @Override
    protected void startForeign(String name, String uuid, String metadata) throws IOException {
        Path file = host.folder("vms").resolve(uuid + ".xml");
        Files.writeString(file, """
                <domain type='qemu'><name>%s</name><uuid>%s</uuid><metadata>%s</metadata>
                <memory unit='MiB'>32</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='q35'>hvm</type></os>
                <devices><controller type='usb' model='none'/><memballoon model='none'/></devices></domain>
                """.formatted(name, uuid, metadata));
        host.libvirt().virsh("create", file.toString());
    }

    @Override
    protected boolean isThere(String name) throws IOException {
        return host.libvirt().running().contains(name);
    }

    @Override
    protected void killDaemon() throws IOException {
        host.libvirt().kill();
    }

    @Override
    protected void startDaemon() throws IOException {
        host.libvirt().start(host.ovs());
    }

    @Override
    protected void removeWhatDomainsNeeded() throws IOException {
        for (String tap : taps) {
            host.command("ip", "link", "delete", tap).succeed();
        }
    }

    @Test
    void a_real_guest_starts_from_our_description_when_it_is_resumed() throws IOException {
        console = true;
        DomainSpec spec = spec(owner(0));
        hypervisor.startPaused(spec);
        Path consoleFile = spec.debugConsole().orElseThrow();
        assertThat(Files.size(consoleFile)).isZero();
        String threads = host.command(
                        "ls", "/proc/" + process(spec.owner().names().domain()) + "/task")
                .succeed();
        assertThat(threads.lines()).hasSizeGreaterThan(spec.cpus().count());

        hypervisor.resume(spec.owner().uuid());
        Poll.until(
                "the guest's user space",
                BOOT_LIMIT,
                "read " + consoleFile,
                () -> Files.readString(consoleFile, StandardCharsets.ISO_8859_1).contains(USER_SPACE));
        assertThat(hypervisor.domains().ours())
                .extracting(ObservedDomain::state)
                .containsExactly(DomainState.RUNNING);
    }

    @Test
    void a_libvirtd_that_hangs_is_unavailable_within_the_limit_and_all_calls_end_when_it_goes_on() throws IOException {
        try (Hypervisor hasty = new LibvirtHypervisor(host.libvirt().uri(), Duration.ofSeconds(1))) {
            String daemon = host.command("cat", "/run/libvirtd.pid").succeed().strip();
            host.command("kill", "-STOP", daemon).succeed();
            try {
                for (int call = 0; call < 2; call++) {
                    assertThatThrownBy(hasty::domains)
                            .isInstanceOf(HypervisorUnavailable.class)
                            .hasMessageContaining("no answer in 1000 ms");
                }
                assertThatThrownBy(hasty::domains).hasMessageContaining("2 earlier calls have not returned");
            } finally {
                host.command("kill", "-CONT", daemon).succeed();
            }
            Poll.until("an answer", LIMIT, "look at libvirtd", hasty::isAlive);
        }
    }

    @Test
    void a_machine_without_sev_says_so() throws IOException {
        String capabilities = host.libvirt().virsh("domcapabilities", "--machine", "q35");
        assertThat(capabilities).contains("<sev supported='no'/>");
        assertThat(hypervisor.sevCapabilities()).isEqualTo(SevCapabilities.NONE);
    }

    @Test
    void starts_and_ends_leave_nothing_in_libvirt_or_here() throws IOException {
        List<Long> starts = new ArrayList<>();
        cycle(starts, 5);
        List<String> before = open();
        cycle(starts, 20);
        System.out.println("startPaused, ms: " + starts.stream().sorted().toList());
        assertThat(open()).hasSizeLessThanOrEqualTo(before.size());
        assertThat(host.libvirt().running()).isEmpty();
        assertThat(hypervisor.domains()).isEqualTo(new DomainList(List.of(), List.of()));
    }

    @Test
    void a_hypervisor_that_is_closed_leaves_no_connection_whether_libvirtd_is_there_or_not() throws IOException {
        List<String> before = open();
        openAndClose(20);
        awaitNoMoreThan(before);

        List<Hypervisor> opened = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            opened.add(new LibvirtHypervisor(host.libvirt().uri(), LIMIT));
        }
        killDaemon();
        opened.forEach(Hypervisor::close);
        startDaemon();
        Poll.until("an answer", LIMIT, "look at libvirtd", hypervisor::isAlive);
        awaitNoMoreThan(before);
    }

    /** libvirt's event loop closes them soon. */
    private static void awaitNoMoreThan(List<String> before) throws IOException {
        try {
            Poll.until("what was open before", LIMIT, "ls -l /proc/self/fd", () -> open().size() <= before.size());
        } catch (LabException e) {
            throw new LabException(e.getMessage() + ": " + before + ", now " + open(), e.remedy(), e);
        }
    }

    private void openAndClose(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            try (Hypervisor other = new LibvirtHypervisor(host.libvirt().uri(), LIMIT)) {
                assertThat(other.isAlive()).isTrue();
            }
        }
    }

    private void cycle(List<Long> starts, int times) throws IOException {
        for (int round = 0; round < times; round++) {
            DomainSpec spec = spec(owner(0));
            long before = System.nanoTime();
            hypervisor.startPaused(spec);
            starts.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
            hypervisor.destroy(spec.owner().uuid());
        }
    }

    /** Sockets, pipes and the like of this process. Files it opens for itself: a class path's, as classes are first used. */
    private static List<String> open() throws IOException {
        List<String> open = new ArrayList<>();
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path each : all.toList()) {
                target(each).ifPresent(open::add);
            }
        }
        open.removeIf(target -> target.startsWith("/"));
        return open;
    }

    /** Of a file that may be closed meanwhile. */
    private static Optional<String> target(Path file) throws IOException {
        try {
            return Optional.of(Files.readSymbolicLink(file).toString());
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    private String process(String name) throws IOException {
        return host.command("cat", "/run/libvirt/qemu/" + name + ".pid")
                .succeed()
                .strip();
    }
}
