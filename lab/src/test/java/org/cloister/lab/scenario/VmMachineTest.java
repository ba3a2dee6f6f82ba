package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.lab.GuestJava;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabProjectKeys;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.guest.MachineScript;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs agent-vm's code for scratch, drive, tunnel and storage, in a guest whose kernel has dm-crypt, ESP and nfsd, with
 * only the rights that agent-vm's unit has.
 */
@Tag("scenario")
@Tag("vm")
@RotatedScenario({7, 9, 10})
@ExtendWith(SharedLab.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VmMachineTest {
    private static final Pattern NEEDED = Pattern.compile(
            "lab/target/classes|/base/target/|agent-vm|luks-keyops|strongswan-conf|netty|jnr-|jffi|/asm|jackson|slf4j-api");
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final String MARKER = "cloister-marker-7b502c3a";
    private static final long DISK = 64 << 20;
    private static final long DRIVE = 160 << 20;

    @SuppressWarnings("NullAway.Init") // boot sets them before any test
    private LabVm vm;

    @SuppressWarnings("NullAway.Init")
    private GuestJava java;

    @SuppressWarnings("NullAway.Init")
    private Path scratch;

    @SuppressWarnings("NullAway.Init")
    private Path drive;

    private int disks;

    @BeforeAll
    void boot(Lab lab) throws IOException {
        Path folder = lab.host(1).folder("vm-machine");
        scratch = disk(folder.resolve("scratch"), DISK);
        drive = disk(folder.resolve("drive"), DRIVE);
        LabVmSpec spec = LabVmSpec.of("vm-machine", LabHome.fromEnvironment().image("lab"))
                .withShape(1, 1024)
                .withDisk(scratch)
                .withDisk(disk(folder.resolve("swap"), DISK))
                .withDisk(drive);
        vm = lab.host(1).boot(spec).awaitRunner();
        disks = spec.manifest().layers().size();
        java = GuestJava.install(vm, NEEDED);
    }

    @AfterAll
    void destroy() throws IOException {
        vm.close();
    }

    @Test
    @RotatedScenario(7)
    void scratch_is_noise_below_and_erased_after() throws IOException {
        vm.succeed("sh", "-c", "mkswap \"$1\" && swapon \"$1\"", "swap", device(1));
        assertThat(run("swap", device(0)).get(0)).startsWith("swap refused: swap: want none");
        vm.succeed("swapoff", device(1));
        List<String> lines = run("scratch", device(0), MARKER);
        assertThat(lines.subList(0, 8))
                .containsExactly(
                        "secrets 0",
                        "mounted /scratch true",
                        "mounted /tmp true",
                        "mounted /var/tmp true",
                        "1777 /scratch",
                        "1777 /tmp",
                        "1777 /var/tmp",
                        "kept false");
        assertThat(lines.get(8))
                .startsWith("held Erasure[erased=Optional.empty, holders=[")
                .contains("(sleep)]", "EBUSY");
        assertThat(lines.subList(9, 12))
                .containsExactly(
                        "erased true ", "again Erasure[erased=Optional.empty, holders=[], error=]", "left []false");
        byte[] below = Files.readAllBytes(scratch);
        assertThat(new String(below, StandardCharsets.ISO_8859_1)).doesNotContain(MARKER);
        assertThat(below).startsWith(new byte[1 << 16]);
    }

    @Test
    void a_drive_is_opened_by_its_key_at_a_later_epoch_alone_and_noise_below() throws IOException {
        List<String> lines = run("drive", device(2), MARKER);
        assertThat(lines.get(0)).startsWith("empty refused: ").contains("want a LUKS2 header, have none");
        assertThat(lines.subList(1, 3))
                .containsExactly("made OpenResult[previousEpoch=0, created=true]", "mounted ext4 true");
        assertThat(lines.get(3)).startsWith("twice refused: drive: want no mapping");
        assertThat(lines.get(4)).isEqualTo("closed [][]false");
        assertThat(lines.get(5)).startsWith("same refused: drive: want an epoch below the opening's 7, have 7");
        assertThat(lines.get(6)).startsWith("stranger refused: ").contains("want a key of this volume");
        assertThat(lines.get(7)).startsWith("anew refused: new drive: want an empty disk");
        assertThat(lines.subList(8, 13))
                .containsExactly(
                        "epoch OptionalLong[7]",
                        "found OpenResult[previousEpoch=7, created=false]",
                        "kept true OptionalLong[9]",
                        "closed []",
                        "secrets 0");
        assertThat(new String(Files.readAllBytes(drive), StandardCharsets.ISO_8859_1))
                .doesNotContain(MARKER);
    }

    @Test
    @RotatedScenario(9)
    void storage_is_one_users_through_the_tunnel_and_gone_after(@TempDir Path folder) throws IOException {
        putWorker(folder);
        vm.succeed("sh", "-c", """
                ip netns exec w tcpdump -i any -U -w /run/w.pcap >/run/tcpdump.log 2>&1 </dev/null &
                for i in 1 2 3 4 5 6 7 8 9; do [ -s /run/w.pcap ] && break; sleep 1; done
                """);
        // The worker is a network namespace of the same guest, which the unit lets nobody enter.
        List<String> lines = run(List.of("RestrictNamespaces=no"), "storage", MARKER);
        assertThat(lines).contains("Up[peer=c]", "Up[peer=w1]", "tunnel true");
        List<String> storage =
                lines.stream().filter(line -> line.matches("[a-z].*")).toList();
        assertThat(storage.subList(1, 3)).containsExactly("exports /project 10.70.0.2", "own true");
        assertThat(storage.get(3)).startsWith("others refused: ").contains("Permission denied");
        assertThat(storage.get(4)).isEqualTo("owner 2001:2001");
        assertThat(storage.get(5)).startsWith("stranger refused: storage 10.70.0.1:/");
        assertThat(storage.get(6)).startsWith("removed refused: ");
        assertThat(storage.subList(7, 9)).containsExactly("unmounted [][]", "exports ");
        vm.succeed("sh", "-c", "kill $(pidof tcpdump); sync; ! grep -q " + MARKER + " /run/w.pcap");
        String wire = "tcpdump -n -r /run/w.pcap";
        assertThat(vm.succeed("sh", "-c", wire + " esp 2>/dev/null | wc -l").strip())
                .matches("[1-9]\\d+");
        assertThat(vm.succeed(
                        "sh", "-c", wire + " 'not esp and not arp and not port 500 and not port 4500' 2>/dev/null"))
                .isEmpty();
    }

    @Test
    @RotatedScenario(10)
    void slurmctlds_port_is_reached_through_tunnel_and_filter_and_sees_the_workers_address(@TempDir Path folder)
            throws IOException {
        putWorker(folder);
        assertThat(run(List.of("RestrictNamespaces=no"), "port").stream().filter(line -> line.startsWith("port")))
                // A question, one that is not for workers, and a question while no filter runs.
                .containsExactly("port asked by 10.70.0.2", "port says nothing", "port says nothing");
    }

    /** A network namespace of the same guest. */
    private void putWorker(Path folder) throws IOException {
        MachineScript.FOLDER.copyTo(
                vm,
                LabProjectKeys.create("a"),
                List.of(TunnelIdentity.controller("c", "a"), TunnelIdentity.worker("w1", "a")),
                folder);
        vm.succeed("sh", "-c", """
                [ -e /run/netns/w ] && exit 0
                ip netns add w
                # It has the kernel's settings, not the image's.
                for each in all default; do ip netns exec w sh -c "echo 1 >/proc/sys/net/ipv6/conf/$each/disable_ipv6"; done
                ip link add c0 type veth peer name w0 netns w
                """);
    }

    private List<String> run(String... arguments) throws IOException {
        return run(List.of(), arguments);
    }

    private List<String> run(List<String> settings, String... arguments) throws IOException {
        return java.runAs("agent-vm.service", settings, MachineScript.class, LIMIT, arguments)
                .lines()
                .toList();
    }

    private static Path disk(Path disk, long bytes) throws IOException {
        try (RandomAccessFile sparse = new RandomAccessFile(disk.toFile(), "rw")) {
            sparse.setLength(bytes);
        }
        return disk;
    }

    private String device(int number) {
        return "/dev/vd" + (char) ('a' + disks + number);
    }
}
