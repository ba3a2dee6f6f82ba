package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
class VmPackagesTest extends DaemonPackagesContract {
    private static final String HOOKS = "/usr/lib/cloister/slurm/";
    private static final String EXAMPLES = "/usr/share/doc/cloister-agent-vm/examples/";

    private static final Pattern SIGNATURE = Pattern.compile("META-INF/[^/]+\\.(SF|RSA|DSA|EC)");

    VmPackagesTest() {
        super(new Daemon(
                "agent-vm",
                BuiltPackages.VM_DEB,
                BuiltPackages.VM_RPM,
                Set.of(
                        "/usr/share/cloister/agent-vm/make-archive",
                        "/usr/libexec/cloister/session",
                        "/usr/libexec/cloister/slurm-filter",
                        "/usr/libexec/cloister/member-session",
                        "/usr/libexec/cloister/export-session",
                        HOOKS + "prolog",
                        HOOKS + "epilog"),
                List.of(),
                Optional.empty(),
                List.of(
                        HOOKS + "job_submit.lua",
                        "/usr/lib/sysusers.d/cloister-slurm-filter.conf",
                        "/usr/lib/systemd/system/cloister-slurm-filter.service",
                        EXAMPLES + "agent-vm.toml",
                        EXAMPLES + "controller.toml",
                        EXAMPLES + "members.toml",
                        "/usr/share/cloister/agent-vm/classes"),
                "systemd | systemd-sysusers, systemd | systemd-tmpfiles, charon-systemd, chrony, e2fsprogs, iproute2, libcryptsetup12, "
                        + "libssl3 | libssl3t64, munge, nfs-common, nftables, procps, slurm-client, slurmd, "
                        + "strongswan-swanctl",
                List.of(
                        "chrony",
                        "cryptsetup-libs",
                        "e2fsprogs",
                        "iproute",
                        "munge",
                        "nfs-utils",
                        "nftables",
                        "openssl-libs",
                        "procps-ng",
                        "slurm",
                        "slurm-slurmd",
                        "strongswan"),
                Set.of("/var/cache/cloister/agent-vm.jsa"),
                "agent-vm|audit-log|base|daemon|luks-keyops|protocol|slurm-commands|strongswan-conf|transport"));
    }

    @Test
    void jffis_library_is_a_file_and_nothing_is_unpacked_into_tmp(@TempDir Path folder)
            throws IOException, InterruptedException {
        requireNatives("jffi.boot.library.path", "libjffi-1.2.so");
        Path probe = Files.writeString(folder.resolve("Probe.java"), """
                import org.cloister.luks.secret.SecretAllocator;
                public class Probe {
                    public static void main(String[] args) throws Exception {
                        SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY).random(1).close();
                        System.out.println("kept");
                    }
                }""");
        // Below a file there is no folder and none can be made, so that unpacking would fail.
        List<String> tmp =
                List.of("-Djava.io.tmpdir=" + probe.resolve("none"), "-Djffi.extract.dir=" + probe.resolve("none"));
        assertThat(saying(probe, with(tmp, natives()))).contains("kept");
        assertThat(saying(probe, with(tmp, folder))).doesNotContain("kept");
    }

    private static List<String> with(List<String> options, Path natives) {
        return Stream.concat(options.stream(), Stream.of("-Djffi.boot.library.path=" + natives))
                .toList();
    }

    /** No archive has what either would keep out of it. */
    @Test
    void no_jar_is_signed_and_no_string_of_ours_is_put_together_by_a_call_that_java_makes_first() throws IOException {
        try (Stream<Path> files = Files.list(unpacked("/usr/share/cloister/agent-vm"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".jar")).toList()) {
                try (ZipFile jar = new ZipFile(file.toFile())) {
                    assertThat(jar.stream().map(ZipEntry::getName)).noneMatch(SIGNATURE.asMatchPredicate());
                    for (ZipEntry each : jar.stream().toList()) {
                        if (each.getName().startsWith("org/cloister/")) {
                            byte[] bytes = jar.getInputStream(each).readAllBytes();
                            assertThat(new String(bytes, StandardCharsets.ISO_8859_1))
                                    .as(each.getName())
                                    .doesNotContain("makeConcatWithConstants");
                        }
                    }
                }
            }
        }
    }

    @Test
    void slurms_hooks_are_those_of_the_checkout() throws IOException {
        for (String hook : List.of("prolog", "epilog", "job_submit.lua")) {
            assertThat(unpacked(HOOKS + hook))
                    .hasSameBinaryContentAs(BuiltPackages.ROOT.resolve("packaging/src/slurm/" + hook));
        }
    }

    @Test
    void what_a_controlling_vm_has_besides_is_recommended() throws IOException, InterruptedException {
        assertThat(PackagingCommand.of("dpkg-deb", "-f", BuiltPackages.VM_DEB.toString(), "Recommends")
                        .text()
                        .strip()
                        .split(", "))
                .containsExactly(
                        "lua5.1",
                        "mariadb-server",
                        "nfs-kernel-server",
                        "openssh-client",
                        "openssh-server",
                        "openssh-sftp-server",
                        "rsync",
                        "slurm-wlm-mysql-plugin",
                        "slurmctld",
                        "slurmdbd");
        assertThat(PackagingCommand.of("rpm", "-qp", "--recommends", BuiltPackages.VM_RPM.toString())
                        .lines())
                .containsExactlyInAnyOrder(
                        "lua",
                        "mariadb-server",
                        "openssh",
                        "openssh-server",
                        "rsync",
                        "slurm-slurmctld",
                        "slurm-slurmdbd");
    }

    @Test
    void an_image_enables_it_before_its_own_preset_disables_all() {
        assertThat(unpacked("/usr/lib/systemd/system-preset/90-cloister-agent-vm.preset"))
                .content()
                .contains("enable agent-vm.service\n");
        // Presets count in the order of their names, the first that fits.
        assertThat("90-cloister-agent-vm.preset").isLessThan("90-cloister.preset");
    }
}
