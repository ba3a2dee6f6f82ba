package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.base.process.Nft;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The image that is shipped has all that agent-vm calls, starts and looks up in either role, and nothing that starts by itself. */
@Tag("scenario")
@Tag("ground")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ImageProgramsTest {
    private static final Path SOURCES =
            Path.of(System.getProperty("cloister.root")).resolve("agent-vm/src/main/java");
    /** The first word of a command, in each of the ways in which agent-vm runs one. */
    private static final Pattern CALL =
            Pattern.compile("(?:(?:runChecked|succeed|run)\\(\\s*\\(?(?:\"[^\"]*\",\\s*(?=List))?(?:List\\.of\\(\\s*)?"
                    + "|List\\.of\\(\\s*|await\\([A-Z]+, \"[^\"]*\", )\"([a-z/][a-z0-9./-]*)(?=[\" ])");
    /** What begins a list or an argument and is no program. */
    private static final Set<String> WORDS = Set.of(
            "create",
            "daemon-reload",
            "delete",
            "error",
            "nfsv4leasetime",
            "ping",
            "restart",
            "show",
            "stop",
            "table",
            "update");
    /** What units, other programs and members run. */
    private static final List<String> BEHIND = List.of(
            "bash",
            "cat",
            "chronyd",
            "e2fsck",
            "echo",
            "java",
            "mariadbd",
            "mount.nfs4",
            "mpirun",
            "munged",
            "scp",
            "sh",
            "slurmctld",
            "slurmd",
            "slurmdbd",
            "slurmstepd",
            "sshd",
            "systemd-notify");

    /** What is called by its path, from a constant. */
    private static final Pattern PATH = Pattern.compile("\"/((?:usr/)?s?bin/[a-z0-9.-]+)\"");

    private static final Pattern UNIT = Pattern.compile("(?<!resolve\\()\"([a-z-]+\\.(?:service|socket))\"");
    /** Of what agent-vm starts itself, with other files than the packages' units have, or as its child. */
    private static final List<String> MASKED = List.of(
            "chrony.service",
            "chrony-wait.service",
            "chronyd.service",
            "nfs-mountd.service",
            "nfs-server.service",
            "nfsdcld.service",
            "rpc-statd.service",
            "rpc-statd-notify.service",
            "rpcbind.service",
            "rpcbind.socket",
            "rsync.service",
            "ssh.service",
            "ssh.socket",
            "sshd.service",
            "strongswan.service",
            "strongswan-swanctl.service");

    private static final String SYSTEM = "usr/lib/systemd/system/";

    private final Path image;

    @SuppressWarnings("NullAway.Init") // list sets it before any test
    private Set<String> files;

    ImageProgramsTest() throws IOException {
        image = LabHome.fromEnvironment().image("production");
    }

    @BeforeAll
    void list() throws IOException {
        files = new TreeSet<>();
        for (ImageLayer layer : ImageManifest.load(image).layers()) {
            unsquash(layer, "-l")
                    .lines()
                    .map(line -> line.replaceFirst("^squashfs-root/?", ""))
                    .forEach(files::add);
        }
    }

    @Test
    void every_program_that_agent_vm_calls_is_there() throws IOException {
        Set<String> called = called(CALL);
        called.removeAll(WORDS);
        assertThat(called)
                .contains("ip", "mkfs.ext4", "exportfs", "rpc.nfsd", "mariadb-install-db", "sacctmgr", "lua5.1")
                .contains("rsync", "setpriv", "ssh-keygen", "/usr/sbin/chronyd", "/usr/sbin/charon-systemd");
        called.addAll(BEHIND);
        // base runs it for agent-vm.
        called.addAll(Nft.ofThisMachine().command());
        assertThat(called)
                .allSatisfy(name -> assertThat(files)
                        .containsAnyElementsOf(
                                name.startsWith("/")
                                        ? List.of(merged(name.substring(1)))
                                        : List.of("usr/bin/" + name, "usr/sbin/" + name)));
        assertThat(called(PATH))
                .contains("bin/bash")
                .allSatisfy(path -> assertThat(files).contains(merged(path)));
    }

    /** {@code /bin} is a link. */
    private static String merged(String path) {
        return path.startsWith("usr/") ? path : "usr/" + path;
    }

    @Test
    void what_persons_come_and_take_data_out_by_is_there() {
        assertThat(files)
                .contains(
                        "usr/libexec/cloister/session",
                        "usr/libexec/cloister/member-session",
                        "usr/libexec/cloister/export-session",
                        SYSTEM + "cloister-session@.service",
                        "usr/lib/openssh/sftp-server");
    }

    @Test
    void every_unit_that_agent_vm_starts_is_there_and_none_starts_by_itself() throws IOException {
        Set<String> units = called(UNIT);
        assertThat(units)
                .contains("munge.service", "mariadb.service", "slurmdbd.service", "slurmctld.service", "slurmd.service")
                .contains("cloister-session.socket", "cloister-slurm-filter.service");
        assertThat(units).allSatisfy(unit -> {
            assertThat(files).contains(SYSTEM + unit);
            // A mask, or a change of its own.
            assertThat(files).doesNotContain("etc/systemd/system/" + unit);
        });
        assertThat(files.stream()
                        .filter(file -> file.matches("etc/systemd/system/[^/]+\\.(wants|requires)/.+"))
                        .map(file -> file.substring("etc/systemd/system/".length())))
                .containsExactly("cloister.target.wants/agent-vm.service");
    }

    @Test
    void units_of_what_agent_vm_starts_itself_can_be_started_by_nobody() throws IOException {
        String listing = unsquash(layer("base"), "-ll");
        assertThat(MASKED)
                .allSatisfy(unit -> assertThat(listing).contains("/etc/systemd/system/" + unit + " -> /dev/null\n"));
    }

    /** Another number in a later image, and MariaDB could not read what the one before has left on a project's drive. */
    @Test
    void daemons_have_the_numbers_that_drives_know_them_by() throws IOException {
        assertThat(unsquash(layer("base"), "-cat", "etc/passwd")
                        .lines()
                        .map(line -> line.split(":", 5))
                        .map(part -> String.join(":", part[0], part[2], part[3])))
                .contains(
                        "mysql:401:401",
                        "munge:402:402",
                        "_chrony:403:403",
                        "sshd:404:65534",
                        "cloister-filter:407:407",
                        "slurm:64030:64030");
    }

    private ImageLayer layer(String name) throws IOException {
        return ImageManifest.load(image).layers().stream()
                .filter(layer -> layer.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private Set<String> called(Pattern pattern) throws IOException {
        try (Stream<Path> sources = Files.walk(SOURCES)) {
            Set<String> found = new TreeSet<>();
            for (Path source : sources.filter(Files::isRegularFile).toList()) {
                found.addAll(pattern.matcher(Files.readString(source))
                        .results()
                        .map(match -> match.group(1))
                        .collect(Collectors.toSet()));
            }
            return found;
        }
    }

    /** @param what the option, and after the image what it takes */
    private String unsquash(ImageLayer layer, String... what) throws IOException {
        Stream<String> argv = Stream.concat(
                Stream.of(
                        "unsquashfs",
                        what[0],
                        image.resolve(layer.file().name()).toString()),
                Stream.of(what).skip(1));
        return LabCommand.of(argv.toList()).succeed();
    }
}
