package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Inspects the image in a guest that runs it. */
@Tag("scenario")
@Tag("ground")
@ExtendWith(SharedLab.class)
@RotatedScenario({6, 8, 10})
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GuestImageTest {
    @SuppressWarnings("NullAway.Init") // boot sets it before any test
    private LabVm vm;

    @BeforeAll
    void boot(Lab lab) throws IOException {
        LabVmSpec spec = LabVmSpec.of("image", LabHome.fromEnvironment().image("lab"));
        vm = lab.host(1).boot(spec).awaitRunner();
        // The runner is there before it; this waits for its end.
        vm.succeed("systemctl", "start", "systemd-sysctl.service");
    }

    @AfterAll
    void destroy() throws IOException {
        vm.close();
    }

    @Test
    void sees_the_layers_that_the_manifest_names() throws IOException {
        ImageManifest manifest = vm.spec().manifest();
        assertThat(vm.succeed("cat", "/proc/cmdline").strip()).contains(manifest.commandLine());
        for (ImageLayer layer : manifest.layers()) {
            assertThat(vm.succeed("dmsetup", "table", layer.serial()))
                    .contains(layer.rootHash().hex());
            assertThat(vm.succeed("dmsetup", "status", layer.serial()).strip()).endsWith("V");
        }
        assertThat(vm.succeed("uname", "-r").strip()).isEqualTo(manifest.kernelRelease());
    }

    @Test
    void has_agentctl_installed_from_the_package() throws IOException {
        assertThat(vm.succeed("dpkg-query", "-W", "-f", "${db:Status-Status}", "cloister-agentctl"))
                .isEqualTo("installed");
        assertThat(vm.succeed("agentctl", "version")).startsWith("agentctl ");
    }

    @Test
    void has_what_the_two_roles_need() throws IOException {
        for (String program : new String[] {
            "cryptsetup",
            "swanctl",
            "charon-systemd",
            "slurmctld",
            "slurmdbd",
            "slurmd",
            "mariadbd",
            "munged",
            "rpc.nfsd",
            "mount.nfs4",
            "chronyd",
            "mpirun",
            "sshd",
            "ssh-keygen",
            "rsync",
            "nft",
            "java"
        }) {
            assertThat(vm.run("sh", "-c", "PATH=$PATH:/usr/sbin:/sbin command -v \"$1\"", "sh", program)
                            .exit())
                    .as(program)
                    .isZero();
        }
        assertThat(vm.succeed("sh", "-c", "ls -L /usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so.2"))
                .isNotBlank();
        assertThat(vm.run("sh", "-c", "ls -d /usr/share/modules/init").exit()).isZero();
    }

    @Test
    void has_no_way_in_and_no_identity_of_its_own() throws IOException {
        assertThat(vm.succeed("sh", "-c", "cut -d: -f2 /etc/shadow | sort -u").lines())
                .containsOnly("*", "!", "!*");
        assertThat(vm.run("sh", "-c", "ls /etc/ssh/ssh_host_* /etc/munge/munge.key")
                        .out())
                .isBlank();
        assertThat(vm.run("sh", "-c", "ps -e -o comm= | grep -E 'getty|sshd|chronyd|rpcbind|rpc[.]|qemu-ga|login'")
                        .out())
                .isBlank();
        assertThat(vm.run("sh", "-c", "command -v qemu-ga || find / -xdev -name 'qemu-ga*' -print -quit")
                        .out())
                .isBlank();
        assertThat(vm.succeed("ss", "-H", "-l", "-n", "-t", "-u"))
                .as("listening sockets")
                .isBlank();
    }

    /** Each of the lab's guests is offered one. */
    @Test
    void takes_no_credentials_from_who_starts_it() throws IOException {
        assertThat(vm.succeed("sh", "-c", "cat /sys/firmware/dmi/tables/DMI | tr '\\0' '\\n'"))
                .contains("io.systemd.credential:cloister.offered");
        assertThat(vm.run("ls", "-d", "/run/credentials/@system").exit()).isNotZero();
    }

    @Test
    void is_closed_against_its_own_users() throws IOException {
        assertThat(vm.succeed("cat", "/proc/sys/kernel/yama/ptrace_scope").strip())
                .isEqualTo("3");
        // Linux adds capability, ima and evm by itself.
        assertThat(vm.succeed("cat", "/sys/kernel/security/lsm").strip().split(",", -1))
                .containsExactlyInAnyOrder("lockdown", "capability", "landlock", "yama", "ima", "evm");
        assertThat(vm.succeed("cat", "/proc/sys/user/max_user_namespaces").strip())
                .isEqualTo("0");
        assertThat(vm.succeed("grep", " /proc proc ", "/proc/mounts")).containsPattern("hidepid=(2|invisible)");
        assertThat(vm.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "unshare", "-U", "true")
                        .exit())
                .isNotZero();
        assertThat(vm.succeed(
                        "setpriv",
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        "sh",
                        "-c",
                        "ls -d /proc/1 2>&1 || true"))
                .contains("No such file");
    }

    @Test
    void bounds_what_is_written_over_it() throws IOException {
        String[] root = vm.succeed("df", "-B1", "--output=size", "/").strip().split("\\s+", -1);
        long memory = Long.parseLong(vm.succeed("sh", "-c", "awk '/MemTotal/ {print $2 * 1024}' /proc/meminfo")
                .strip());
        assertThat(Long.parseLong(root[1])).isLessThan(memory / 2);
        assertThat(vm.run("sh", "-c", "dd if=/dev/zero of=/fill bs=1M; r=$?; rm /fill; exit $r")
                        .err())
                .contains("No space left");
    }

    /** Each is filled with bytes and with names; what daemons and root write to lies in none of them. */
    @Test
    void a_user_who_fills_what_everybody_may_write_to_takes_no_room_from_daemons() throws IOException {
        List<String> places = vm.succeed(
                        "sh", "-c", "find / -path /proc -prune -o -path /sys -prune -o -type d -perm -0002 -print")
                .lines()
                // Queues of messages, of which a user has as much as a limit of the process says.
                .filter(place -> !place.equals("/dev/mqueue"))
                .toList();
        assertThat(places).contains("/tmp", "/var/tmp", "/dev/shm");
        for (String place : places) {
            assertThat(vm.succeed("findmnt", "-n", "-o", "TARGET", "-T", place).strip())
                    .as("the file system of %s", place)
                    .isNotIn("/", "/run", "/dev");
        }
        for (String place : places) {
            String fill =
                    "cd %s; dd if=/dev/zero of=fill bs=1M; rm -f fill; seq 40000 | xargs touch 2>&1 | tail -n 1 >&2"
                            .formatted(place);
            LabCommand.Output filled =
                    vm.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", fill);
            LabCommand.Output beside = vm.run(
                    "sh",
                    "-c",
                    "for each in /etc /var/lib/nfs /var/log /var/lib/mysql /run; do"
                            + " head -c 65536 /dev/zero >$each/beside && rm $each/beside || exit; done");
            vm.succeed("sh", "-c", "find " + place + " -type f -user nobody -delete");
            assertThat(filled.err()).as("filling %s", place).contains("No space left");
            assertThat(beside.exit()).as("%s is full: %s", place, beside).isZero();
        }
    }

    @Test
    void runs_commands_side_by_side_and_ends_them_in_time() throws IOException {
        assertThat(vm.run(List.of("cat"), new byte[300_000], Duration.ofSeconds(30))
                        .out())
                .hasSize(300_000);
        assertThat(vm.run(List.of("sleep", "60"), new byte[0], Duration.ofSeconds(1))
                        .exit())
                .isEqualTo(124);
        assertThat(vm.run("no-such-program").exit()).isEqualTo(127);
        assertThat(vm.run("sh", "-c", "echo out; echo err >&2; exit 7"))
                .isEqualTo(new LabCommand.Output(7, "out\n", "err\n"));
    }
}
