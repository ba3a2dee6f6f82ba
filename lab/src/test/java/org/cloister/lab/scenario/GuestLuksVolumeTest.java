package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.lab.GuestJava;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.guest.VolumeScript;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.LuksVolume;
import org.cloister.luks.volume.VolumeException;
import org.cloister.luks.volume.VolumeKey;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Volumes as mapped devices, in a guest that has a device-mapper. The host looks at the disks from below. */
@Tag("scenario")
@Tag("luks")
@RotatedScenario({6, 9, 10})
@ExtendWith(SharedLab.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GuestLuksVolumeTest {
    private static final Pattern NEEDED =
            Pattern.compile("lab/target/classes|/base/target/|luks-keyops|jnr-|jffi|/asm|jackson");
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final int HEADER = 16 << 20;
    private static final List<String> DISKS = List.of("scratch", "erased", "tampered", "sealed", "foreign");
    private static final long DISK = 32 << 20;
    private static final String MARKER = "cloister-marker-5d41402a";

    @SuppressWarnings("NullAway.Init") // boot sets them before any test
    private LabVm vm;

    @SuppressWarnings("NullAway.Init")
    private GuestJava java;

    @SuppressWarnings("NullAway.Init")
    private Path folder;

    private int disks;

    @BeforeAll
    void boot(Lab lab) throws IOException {
        folder = lab.host(1).folder("luks");
        LabVmSpec spec =
                LabVmSpec.of("luks", LabHome.fromEnvironment().image("lab")).withShape(1, 1024);
        for (String name : DISKS) {
            spec = spec.withDisk(disk(name));
        }
        vm = lab.host(1).boot(spec).awaitRunner();
        disks = spec.manifest().layers().size();
        java = GuestJava.install(vm, NEEDED);
        for (String name : List.of("v64", "v96", "s64")) {
            Path key = folder.resolve(name);
            byte[] bytes = new byte[Integer.parseInt(name.substring(1))];
            Arrays.fill(bytes, (byte) name.charAt(0));
            Files.write(key, bytes);
            GuestJava.writeFile(vm, "/run/" + name, bytes);
        }
    }

    @AfterAll
    void destroy() throws IOException {
        vm.close();
    }

    @Test
    void a_scratch_disk_is_noise_below_and_shut_when_closed() throws IOException {
        String device = device("scratch");
        List<String> lines = script(
                "create " + device + " NONE volume:/run/v64",
                "map " + device + " direct volume:/run/v64",
                "run cat /proc/keys",
                "close direct",
                "slot " + device + " volume:/run/v64 /run/s64",
                "map " + device + " scratch slot:/run/s64",
                "run mkfs.ext4 -q /dev/mapper/scratch && mkdir -p /run/m && mount /dev/mapper/scratch /run/m",
                "run echo " + MARKER + " >/run/m/f && sync && cat /run/m/f",
                "status scratch",
                "map " + device + " scratch slot:/run/s64",
                "map " + device + " other slot:/run/s64",
                "create " + device + " NONE volume:/run/v64",
                "erase " + device + " HEADER",
                "close scratch",
                "run dmsetup table --showkeys scratch",
                "run umount /run/m",
                "close scratch",
                "close scratch",
                "run ls /dev/mapper");
        assertThat(lines.subList(0, 2)).containsExactly("ok", "ok");
        assertThat(lines.remove(2))
                .as("the key is in no thread's keyring")
                .contains("keyring")
                .doesNotContain("logon");
        assertThat(lines.subList(2, 5)).containsExactly("ok closed", "ok", "ok");
        assertThat(lines.get(5)).startsWith("ok exit 0");
        assertThat(lines.get(6)).isEqualTo("ok exit 0 " + MARKER);
        assertThat(lines.get(7)).contains("cipher=aes-xts-plain64", "inUse=true", device);
        assertThat(lines.subList(8, 13))
                .extracting(line -> line.split(" ", 2)[0])
                .containsExactly("NameInUse", "DeviceBusy", "AlreadyLuks", "DeviceBusy", "DeviceBusy");
        assertThat(lines.get(13)).as("the key is in the kernel's keyring").contains(":64:logon:");
        assertThat(lines.subList(14, 17)).containsExactly("ok exit 0", "ok closed", "ok none");
        assertThat(lines.get(17)).doesNotContain("scratch", "direct");
        assertThat(lines.get(18)).isEqualTo("live secrets: 0");
        assertThat(containsMarker(folder.resolve("scratch"))).isFalse();
        opens(folder.resolve("scratch"));
    }

    @Test
    @RotatedScenario(10)
    void an_erased_disk_opens_with_no_slot_no_header_copy_and_no_kept_key() throws IOException {
        String device = device("erased");
        Path raw = folder.resolve("erased");
        assertThat(script(
                        "create " + device + " NONE volume:/run/v64",
                        "slot " + device + " volume:/run/v64 /run/s64",
                        "map " + device + " e slot:/run/s64",
                        "run mkfs.ext4 -q /dev/mapper/e && mkdir -p /run/e && mount /dev/mapper/e /run/e",
                        "run echo " + MARKER + " >/run/e/f && umount /run/e",
                        "close e"))
                .element(5)
                .isEqualTo("ok closed");
        byte[] header = Arrays.copyOf(Files.readAllBytes(raw), HEADER);
        assertThat(script("erase " + device + " HEADER", "check " + device + " slot:/run/s64"))
                .element(1)
                .asString()
                .startsWith("NotLuks ");
        assertThat(Arrays.copyOf(Files.readAllBytes(raw), HEADER)).containsOnly(0);
        doesNotOpen(raw);

        // Who copied header and key before has the data until it is overwritten too; then nothing brings it back.
        restore(raw, header);
        opens(raw);
        String mount = "run mount -o ro /dev/mapper/e /run/e && cat /run/e/f";
        assertThat(script(
                        "run blockdev --flushbufs " + device,
                        "map " + device + " e slot:/run/s64 READ_ONLY",
                        mount,
                        "run umount /run/e",
                        "close e",
                        "erase " + device + " WHOLE"))
                .element(2)
                .isEqualTo("ok exit 0 " + MARKER);
        doesNotOpen(raw);
        restore(raw, header);
        assertThat(script("run blockdev --flushbufs " + device, "map " + device + " e slot:/run/s64", mount, "close e"))
                .element(2)
                .asString()
                .doesNotContain(MARKER)
                .doesNotStartWith("ok exit 0");
    }

    @Test
    @RotatedScenario(9)
    void xts_alone_reads_a_changed_sector_and_integrity_does_not() throws IOException {
        String xts = device("tampered");
        String sealed = device("sealed");
        List<String> lines = script(
                "create " + xts + " NONE volume:/run/v64",
                "map " + xts + " t volume:/run/v64",
                "run yes " + MARKER + " | dd of=/dev/mapper/t bs=1M count=4 iflag=fullblock conv=fsync status=none",
                "close t",
                "run dd if=/dev/zero of=" + xts + " bs=512 seek=32778 count=2 conv=fsync status=none",
                "map " + xts + " t volume:/run/v64",
                "run dd if=/dev/mapper/t bs=1M count=4 status=none | grep -c -a -v -x " + MARKER,
                "close t",
                "create " + sealed + " HMAC_SHA256 volume:/run/v96",
                "run ls /dev/mapper",
                "map " + sealed + " i volume:/run/v96",
                "run yes " + MARKER + " | dd of=/dev/mapper/i bs=1M count=4 iflag=fullblock conv=fsync status=none",
                "run dd if=/dev/mapper/i bs=1M of=/dev/null status=none",
                "close i",
                "run dd if=/dev/zero of=" + sealed + " bs=1M seek=20 count=8 conv=fsync status=none",
                "map " + sealed + " i volume:/run/v96",
                "run dd if=/dev/mapper/i bs=1M of=/dev/null status=none",
                "close i",
                // What a kill while all tags are written would leave.
                "run cryptsetup open --key-size 768 --volume-key-file /run/v96 " + sealed
                        + " cloister-init-$(cryptsetup luksUUID " + sealed + ")",
                "erase " + sealed + " HEADER",
                "run ls /dev/mapper");
        // The last line is cut; a sector of noise has some 16 lines.
        assertThat(lines.get(6)).as("%s", lines).containsPattern("ok exit 0 ([5-9]|\\d\\d+)$");
        assertThat(lines.get(8)).isEqualTo("ok");
        assertThat(lines.get(9)).doesNotContain("cloister-init");
        assertThat(lines.get(12)).as("%s", lines).startsWith("ok exit 0");
        assertThat(lines.get(16)).contains("exit 1", "Input/output error");
        assertThat(lines.subList(18, 20)).containsExactly("ok exit 0", "ok");
        assertThat(lines.get(20)).doesNotContain("cloister-init");
    }

    @Test
    @RotatedScenario(6)
    void maps_what_has_our_form_alone_and_the_command_maps_what_is_ours() throws IOException {
        String device = device("foreign");
        String make = "run cryptsetup luksFormat -q --type luks2 --sector-size 4096 --key-size 512 --pbkdf pbkdf2"
                + " --pbkdf-force-iterations 1000 --luks2-metadata-size 64k --luks2-keyslots-size 16256k ";
        List<String> lines = script(
                make + "--cipher aes-cbc-essiv:sha256 --key-size 256 " + device + " /run/s64",
                "check " + device + " slot:/run/s64",
                "map " + device + " f slot:/run/s64",
                "run ls /dev/mapper",
                "erase " + device + " HEADER",
                make + device + " /run/s64",
                "map " + device + " f slot:/run/s64",
                "status f",
                "run echo " + MARKER + " | dd of=/dev/mapper/f conv=fsync status=none",
                "close f",
                "run cryptsetup open --key-file /run/s64 " + device + " f && head -c 24 /dev/mapper/f",
                "close f",
                "erase " + device + " HEADER",
                "create " + device + " NONE volume:/run/v64",
                "slot " + device + " volume:/run/v64 /run/s64",
                "run cryptsetup open --key-file /run/s64 " + device
                        + " f && cryptsetup status f && cryptsetup close f");
        assertThat(lines.get(1)).as("%s", lines).isEqualTo("ok slot 0");
        assertThat(lines.get(2))
                .startsWith("UnexpectedHeader ")
                .contains("want segments.0.encryption \"aes-xts-plain64\", have \"aes-cbc-essiv:sha256\"");
        assertThat(lines.get(3)).doesNotContain(" f");
        assertThat(lines.get(7)).as("%s", lines).contains("cipher=aes-xts-plain64");
        assertThat(lines.get(10)).isEqualTo("ok exit 0 " + MARKER);
        assertThat(lines.get(15)).startsWith("ok exit 0").contains("aes-xts-plain64", "sector size:  4096");
    }

    private List<String> script(String... steps) throws IOException {
        return java.run(VolumeScript.class, String.join("\n", steps) + "\n", LIMIT)
                .lines()
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private Path disk(String name) throws IOException {
        Path disk = folder.resolve(name);
        try (RandomAccessFile sparse = new RandomAccessFile(disk.toFile(), "rw")) {
            sparse.setLength(DISK);
        }
        return disk;
    }

    private String device(String name) {
        return "/dev/vd" + (char) ('a' + disks + DISKS.indexOf(name));
    }

    private static boolean containsMarker(Path raw) throws IOException {
        return new String(Files.readAllBytes(raw), StandardCharsets.ISO_8859_1).contains(MARKER);
    }

    private static void restore(Path raw, byte[] header) throws IOException {
        try (RandomAccessFile disk = new RandomAccessFile(raw.toFile(), "rw")) {
            disk.write(header);
        }
    }

    private void opens(Path raw) throws IOException {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
        try (LuksVolume volume = Cryptsetup.load().open(raw);
                SecretMemory slot = secrets.readFile(folder.resolve("s64"), 64);
                SecretMemory volumeKey = secrets.readFile(folder.resolve("v64"), 64)) {
            volume.check(VolumeKey.ofSlot(slot));
            volume.check(VolumeKey.ofVolume(volumeKey));
        }
    }

    private void doesNotOpen(Path raw) throws IOException {
        assertThatThrownBy(() -> Cryptsetup.load().open(raw)).isInstanceOf(VolumeException.NotLuks.class);
        for (String key : List.of("--key-file", "--volume-key-file")) {
            LabCommand.Output tried = LabCommand.of(
                            "cryptsetup",
                            "open",
                            "--test-passphrase",
                            key,
                            folder.resolve(key.equals("--key-file") ? "s64" : "v64")
                                    .toString(),
                            raw.toString())
                    .run();
            assertThat(tried.exit()).as("%s", tried).isNotZero();
        }
    }
}
