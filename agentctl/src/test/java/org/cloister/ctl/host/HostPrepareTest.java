package org.cloister.ctl.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.ctl.systemd.SystemdTree;
import org.cloister.ovs.BridgeConfig;
import org.cloister.ovs.BridgeDifference;
import org.cloister.ovs.io.OvsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command {@code host prepare} in a tree that stands for the machine, with recorded changes of the bridge. */
@SuppressWarnings("NullAway.Init") // JUnit sets the fields
class HostPrepareTest {
    private static final String SET = "cgroup_controllers = [ ]\n";

    @TempDir
    private Path folder;

    private SystemdTree machine;
    private Path conf;
    private final List<BridgeConfig> bridges = new ArrayList<>();
    private final List<BridgeDifference> differences = new ArrayList<>();
    private boolean fails;

    record Result(int status, String out, String err) {}

    @BeforeEach
    void setUp() throws IOException {
        machine = SystemdTree.running(Files.createDirectory(folder.resolve("machine")));
        conf = machine.root().resolve("etc/libvirt/qemu.conf");
        Files.createDirectories(conf.resolveSibling("."));
        Files.createDirectories(machine.root().resolve("sys/class/net/eth1"));
        Files.writeString(conf, "#cgroup_controllers = [ \"cpu\" ]\n");
        Files.setLastModifiedTime(conf, FileTime.from(Instant.EPOCH));
        runs("libvirtd");
    }

    /** Has systemd report this process, which started before the test, as the main process of a unit. */
    private void runs(String unit) throws IOException {
        Path systemctl = Files.writeString(machine.root().resolve("bin/systemctl"), """
                #!/bin/sh
                case "$*" in
                    "show --property=MainPID --value %1$s") echo %2$d; exit ;;
                    "show --property=MainPID --value "*) echo 0; exit ;;
                esac
                echo "$*" >>%3$s/calls
                [ ! -e %3$s/broken ] || { echo "Job for $2.service failed." >&2; exit 1; }
                """.formatted(
                        unit, ProcessHandle.current().pid(), machine.root()));
        Files.setPosixFilePermissions(systemctl, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private List<BridgeDifference> apply(BridgeConfig config) throws OvsException {
        bridges.add(config);
        if (fails) {
            throw new OvsException.Disconnected("set up " + config.bridge(), "none");
        }
        List<BridgeDifference> before = List.copyOf(differences);
        differences.clear();
        return before;
    }

    private Result run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = new CommandLine(new HostPrepareCommand(machine.units(), this::apply))
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setExecutionExceptionHandler((e, command, parsed) -> {
                    command.getErr().println(e.getMessage());
                    return 2;
                })
                .execute(arguments);
        return new Result(status, out.toString(), err.toString());
    }

    private String done(String... arguments) {
        Result result = run(arguments);
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        // A table's columns are as wide as their widest cell.
        return result.out().replaceAll(" +", " ");
    }

    @Test
    void a_new_host_gets_bridge_and_setting_and_libvirt_is_restarted() throws IOException {
        differences.add(new BridgeDifference("bridge br-secure", "there", "absent"));
        assertThat(done("--uplink", "eth1"))
                .contains("bridge bridge br-secure: is now there, was absent\n")
                .contains("qemu " + conf + ": cgroup_controllers = [ ]: added\n")
                .contains("libvirt libvirtd: restarted")
                .contains("setting uplink = \"eth1\" in [bridge] of /etc/cloister/agent-host.toml");
        assertThat(bridges).singleElement().satisfies(config -> {
            assertThat(config.bridge()).isEqualTo("br-secure");
            assertThat(config.uplink()).isEqualTo("eth1");
            assertThat(config.runDirectory()).isEqualTo(Path.of("/var/run/openvswitch"));
        });
        assertThat(conf)
                .content()
                .startsWith("#cgroup_controllers = [ \"cpu\" ]\n#")
                .endsWith("\n" + SET);
        assertThat(machine.calls()).containsExactly("restart libvirtd");
    }

    @Test
    void a_repeat_finds_all_in_place() throws IOException {
        Files.writeString(conf, SET);
        Files.setLastModifiedTime(conf, FileTime.from(Instant.EPOCH));
        assertThat(done("--uplink", "eth1"))
                .contains("bridge br-secure with fail mode secure and port eth1: in place\n")
                .contains("qemu " + conf + ": cgroup_controllers = [ ]: in place\n")
                .contains("libvirt libvirtd: has read the settings\n");
        assertThat(conf).hasContent(SET);
        assertThat(Files.getLastModifiedTime(conf).toInstant()).isEqualTo(Instant.EPOCH);
        assertThat(machine.calls()).isEmpty();
    }

    @Test
    void a_repeat_after_a_restart_that_failed_restarts() throws IOException {
        Files.createFile(machine.root().resolve("broken"));
        Result result = run("--uplink", "eth1");
        assertThat(result.status()).isEqualTo(2);
        assertThat(result.err()).contains("systemctl restart libvirtd: Job for libvirtd.service failed.");
        assertThat(result.out()).contains("bridge", "added").doesNotContain("restarted");
        Files.delete(machine.root().resolve("broken"));
        Files.setLastModifiedTime(conf, FileTime.from(Instant.now().plusSeconds(3)));
        assertThat(done("--uplink", "eth1")).contains("in place", "libvirtd: restarted");
        assertThat(machine.calls()).containsExactly("restart libvirtd", "restart libvirtd");
    }

    @Test
    void a_bridge_that_fails_changes_nothing_of_libvirt_and_another_value_is_reported_after_the_bridge()
            throws IOException {
        fails = true;
        Result first = run();
        assertThat(first.status()).isEqualTo(2);
        assertThat(first.err()).contains("set up br-secure").contains("see whether the daemon of Open vSwitch runs");
        assertThat(first.out()).doesNotContain("qemu");
        assertThat(conf).content().doesNotContain(SET);
        fails = false;
        Files.writeString(conf, "\ncgroup_controllers = [\n  \"cpu\"\n]\n");
        Result second = run();
        assertThat(second.status()).isEqualTo(2);
        assertThat(second.err()).contains(conf + ": line 2 has cgroup_controllers = [\"cpu\"]", "by hand");
        assertThat(second.out())
                .contains("br-secure with fail mode secure: in place")
                .doesNotContain("qemu");
        assertThat(conf).hasContent("\ncgroup_controllers = [\n  \"cpu\"\n]\n");
        assertThat(machine.calls()).isEmpty();
    }

    @Test
    void virtqemud_is_restarted_where_it_runs() throws IOException {
        runs("virtqemud");
        assertThat(done()).contains("libvirt virtqemud: restarted").doesNotContain("libvirtd");
        assertThat(machine.calls()).containsExactly("restart virtqemud");
    }

    @Test
    void a_libvirt_that_does_not_run_is_not_started() throws IOException {
        runs("none");
        assertThat(done()).contains("libvirt does not run; reads the settings when it starts");
        assertThat(machine.calls()).isEmpty();
        Files.delete(machine.root().resolve("run/systemd/system"));
        assertThat(done()).contains("systemd does not run here; restart libvirt by hand");
        assertThat(machine.calls()).isEmpty();
    }

    @Test
    void the_file_keeps_its_bytes_its_mode_and_what_names_it() throws IOException {
        byte[] before = "# caf\u00e9\nuser = \"a\"".getBytes(StandardCharsets.ISO_8859_1);
        Path real = Files.write(machine.root().resolve("real.conf"), before);
        Files.setPosixFilePermissions(real, PosixFilePermissions.fromString("rw-r-----"));
        Files.delete(conf);
        Files.createSymbolicLink(conf, real);
        done();
        byte[] after = Files.readAllBytes(real);
        assertThat(Arrays.copyOf(after, before.length)).isEqualTo(before);
        assertThat(new String(after, StandardCharsets.ISO_8859_1))
                .endsWith("\"a\"\n" + "# Written by agentctl host "
                        + "prepare: agent-host moves QEMU into its job's cgroup.\n" + SET);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(real)))
                .isEqualTo("rw-r-----");
        assertThat(conf).isSymbolicLink();
    }

    @Test
    void a_missing_file_is_made_for_root_alone_and_a_missing_libvirt_is_named() throws IOException {
        Files.delete(conf);
        assertThat(done()).contains("added");
        assertThat(conf).content().endsWith(SET);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(conf)))
                .isEqualTo("rw-------");
        Files.delete(conf);
        Files.delete(conf.getParent());
        assertThat(run().err()).contains("install libvirt first", "apt-get install libvirt-daemon-system");
    }

    @Test
    void a_device_that_is_not_there_is_refused_before_anything() {
        for (String device : List.of("eth2", "../net", "")) {
            Result result = run("--uplink", device);
            assertThat(result.status()).isEqualTo(2);
            assertThat(result.err()).contains("--uplink " + device + ": this host has no such network device");
        }
        assertThat(bridges).isEmpty();
    }

    @Test
    void another_folder_of_sockets_may_be_named() {
        done("--run-directory", "/srv/ovs");
        assertThat(bridges).singleElement().satisfies(config -> {
            assertThat(config.bridge()).isEqualTo("br-secure");
            assertThat(config.uplink()).isNull();
            assertThat(config.runDirectory()).isEqualTo(Path.of("/srv/ovs"));
        });
    }
}
