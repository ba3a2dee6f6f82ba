package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
class HostPackagesTest extends DaemonPackagesContract {
    private static final String ROOT_PART = "/usr/libexec/cloister/agent-host-root";
    private static final String ROOT_CONFIG = "/etc/cloister/agent-host-root.conf";

    HostPackagesTest() {
        super(new Daemon(
                "agent-host",
                BuiltPackages.HOST_DEB,
                BuiltPackages.HOST_RPM,
                Set.of(
                        ROOT_PART,
                        "/usr/libexec/cloister/agent-host-idle",
                        "/usr/libexec/cloister/agent-host-logs",
                        "/usr/share/cloister/agent-host/make-archive"),
                List.of("/etc/cloister/agent-host.toml", ROOT_CONFIG),
                Optional.of("packaging/src/agent-host/agent-host.toml"),
                List.of(
                        "/usr/lib/sysusers.d/cloister-agent-host.conf",
                        "/usr/lib/systemd/system/agent-host-logs.service",
                        "/usr/lib/systemd/system/agent-host-logs.timer",
                        "/usr/lib/systemd/system/agent-host-root.socket",
                        "/usr/lib/systemd/system/agent-host-root@.service"),
                TOOLS,
                List.of(),
                Set.of("/var/cache/cloister/agent-host.jsa"),
                "agent-host|audit-log|base|daemon|ovs-bridge|preflight|protocol|slurm-commands|transport"));
    }

    @Test
    void it_has_no_cryptography_to_open_what_it_passes_on() throws IOException {
        requireNoCryptography();
    }

    @Test
    void jnas_library_is_a_file_and_nothing_is_unpacked_into_tmp(@TempDir Path folder)
            throws IOException, InterruptedException {
        requireNatives("jna.boot.library.path", "libjnidispatch.so");
        Path probe = Files.writeString(folder.resolve("Probe.java"), """
                public class Probe {
                    public static void main(String[] args) {
                        System.out.println("pointers of " + com.sun.jna.Native.POINTER_SIZE);
                    }
                }""");
        // Below a file there is no folder and none can be made, so that unpacking would fail.
        String tmp = "-Djna.tmpdir=" + probe.resolve("none");
        assertThat(saying(probe, List.of(tmp, "-Djna.boot.library.path=" + natives())))
                .contains("pointers of 8");
        assertThat(saying(probe, List.of(tmp, "-Djna.boot.library.path=" + folder)))
                .doesNotContain("pointers of");
    }

    @Test
    void neither_package_is_removed_while_a_vm_runs() throws IOException, InterruptedException {
        assertThat(PackagingCommand.of("dpkg-deb", "-I", BuiltPackages.HOST_DEB.toString(), "prerm")
                        .text())
                .containsSubsequence(
                        "if [ \"$1\" = remove ]", "/usr/libexec/cloister/agent-host-idle", "stop agent-host");
        assertThat(PackagingCommand.of("rpm", "-qp", "--scripts", BuiltPackages.HOST_RPM.toString())
                        .text())
                .containsSubsequence(
                        "preuninstall", "/usr/libexec/cloister/agent-host-idle || exit 1", "disable --now");
    }

    @Test
    void root_runs_nothing_that_the_daemons_user_could_have_written() throws IOException {
        assertThat(Files.readString(unpacked(ROOT_PART)))
                .contains("PATH=/usr/sbin:/usr/bin:/sbin:/bin")
                .doesNotContain("/var/lib")
                .doesNotContain("eval");
        assertThat(Files.readAllLines(unpacked(ROOT_CONFIG)))
                .as("nothing is set as packaged")
                .allMatch(line -> line.isEmpty() || line.startsWith("#"));
    }
}
