package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Verifies {@code systemd/} with systemd's own tools; no systemd needs to run. */
@Tag("ground")
class SystemdUnitTest {
    private static final Path FOLDER = BuiltPackages.ROOT.resolve("systemd");
    /**
     * In tenths: what is left over (see each unit), and one for other releases' tables. agent-host has two capabilities, devices
     * and everybody's processes to look at; its root part is root without a capability. agent-vm is root in a VM, mounts for all of it
     * and starts what others have written to run as root.
     * A session is a person's work: sshd gives root up, and what bounds the person are the kernel's settings of the image.
     */
    private static final Map<String, Integer> WORST = Map.of(
            "agent-relay.service",
            15,
            "agent-host.service",
            21,
            "agent-host-root@.service",
            21,
            "agent-host-logs.service",
            11,
            "agent-vm.service",
            66,
            "cloister-session@.service",
            76,
            "cloister-slurm-filter.service",
            15,
            "cloister-site-serve.service",
            17);

    private static final String SOCKET = "agent-host-root.socket";
    private static final String LOGS = "agent-host-logs.service";
    private static final String FILTER = "cloister-slurm-filter.service";
    private static final String SITE = "cloister-site-serve.service";

    @TempDir
    Path folder = Path.of("");

    static List<String> units() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".service"))
                    .sorted()
                    .toList();
        }
    }

    /** Returns all but those that are started for one request or by a timer. */
    static List<String> daemons() throws IOException {
        return units().stream()
                .filter(name -> !name.contains("@") && !name.equals(LOGS))
                .toList();
    }

    /** Those whose user has no rights. */
    static List<String> accounts() throws IOException {
        return daemons().stream()
                .filter(name -> !name.equals("agent-vm.service") && !name.equals(SITE))
                .toList();
    }

    /** Those of them that an operator configures. */
    static List<String> configured() throws IOException {
        return accounts().stream().filter(name -> !name.equals(FILTER)).toList();
    }

    @BeforeAll
    static void require() {
        PackagingCommand.require("systemd-analyze", "systemd");
        PackagingCommand.require("systemd-sysusers", "systemd");
    }

    @ParameterizedTest
    @MethodSource("units")
    void systemd_understands_every_line(String unit) throws IOException, InterruptedException {
        String text = Files.readString(FOLDER.resolve(unit));
        Files.copy(FOLDER.resolve(SOCKET), folder.resolve(SOCKET));
        Path copy = Files.writeString(
                folder.resolve(unit), text.replaceAll("(?m)^(Exec(?:Start|Reload))=\\S+", "$1=/bin/true"));
        assertThat(analyze("verify", "--man=no", copy.toString()).text()).isEmpty();
        Path wrong =
                Files.writeString(folder.resolve("wrong-" + unit), Files.readString(copy) + "\n[Service]\nNoSuch=1\n");
        assertThat(analyze("verify", "--man=no", wrong.toString()).text()).contains("NoSuch");
    }

    @ParameterizedTest
    @MethodSource("units")
    void a_unit_is_locked_up_as_far_as_java_allows(String unit) throws IOException, InterruptedException {
        Path file = FOLDER.resolve(unit);
        assertThat(exposure(file).status()).as(exposure(file).text()).isZero();
        Path open = Files.writeString(
                folder.resolve(unit), Files.readString(file).replaceAll("(?m)^CapabilityBoundingSet=.*$", ""));
        assertThat(exposure(open).status()).as("exposure with every capability").isNotZero();
    }

    @ParameterizedTest
    @MethodSource("daemons")
    void a_unit_leaves_no_memory_on_a_disk_and_says_when_it_is_ready(String unit) throws IOException {
        // agent-vm sees by a lock that the filter listens.
        assertThat(Files.readAllLines(FOLDER.resolve(unit)))
                .contains(unit.equals(FILTER) || unit.equals(SITE) ? "Type=exec" : "Type=notify")
                .contains("LimitCORE=0", "MemorySwapMax=0", "UMask=0077", "NoNewPrivileges=yes")
                .contains("Restart=always")
                .noneMatch(line -> line.startsWith("Environment"));
    }

    @ParameterizedTest
    @MethodSource("accounts")
    void a_unit_runs_as_the_user_that_sysusers_makes(String unit) throws IOException, InterruptedException {
        String name = unit.replace(".service", "");
        Path root = Files.createDirectories(folder.resolve("root"));
        Files.createDirectories(root.resolve("etc"));
        Path drop = Files.createDirectories(root.resolve("usr/lib/sysusers.d"));
        Files.copy(FOLDER.resolve(name + ".sysusers"), drop.resolve(name + ".conf"));
        PackagingCommand.of("systemd-sysusers", "--root=" + root).text();
        String user = Files.readAllLines(FOLDER.resolve(unit)).stream()
                .filter(line -> line.startsWith("User="))
                .map(line -> line.substring("User=".length()))
                .findFirst()
                .orElseThrow();
        assertThat(Files.readAllLines(root.resolve("etc/passwd")))
                .anyMatch(line -> line.startsWith(user + ":") && line.endsWith(":/usr/sbin/nologin"));
    }

    @Test
    void no_unit_starts_before_somebody_configured_it() throws IOException {
        List<String> preset = Files.readAllLines(FOLDER.resolve("90-cloister.preset"));
        for (String unit : configured()) {
            assertThat(preset).contains("disable " + unit);
            String name = unit.replace(".service", "");
            assertThat(Files.readAllLines(FOLDER.resolve(unit)))
                    .contains("ConditionPathExists=/etc/cloister/" + name + ".toml", "RestartPreventExitStatus=78");
        }
    }

    /** sssd serves accounts only after the units that a boot starts first. */
    @Test
    void a_unit_whose_account_comes_late_waits_for_it_and_is_tried_until_it_starts() throws IOException {
        for (String unit : configured()) {
            assertThat(Files.readAllLines(FOLDER.resolve(unit)))
                    .contains("After=nss-user-lookup.target", "StartLimitIntervalSec=0", "TimeoutStartSec=300")
                    .noneMatch(line -> line.startsWith("StartLimitBurst"));
        }
        assertThat(Files.readAllLines(FOLDER.resolve(SOCKET)))
                .as("sssd starts after sockets.target, which every other socket is before")
                .contains("After=sysinit.target nss-user-lookup.target", "DefaultDependencies=no");
    }

    /** A host whose KVM is not permitted, or missing in its own /dev, refuses work; both are set before its first command. */
    @Test
    void agent_host_is_set_up_when_udev_has_loaded_kvm() throws IOException {
        assertThat(Files.readAllLines(FOLDER.resolve("agent-host.service")))
                .contains("BindPaths=-/dev/net/tun -/dev/kvm -/dev/sev", "DeviceAllow=/dev/kvm rw")
                .contains("Requires=" + SOCKET, "After=" + SOCKET)
                .noneMatch(line -> line.startsWith("ExecStartPre="));
        assertThat(Files.readAllLines(FOLDER.resolve(SOCKET)))
                .contains("ExecStartPre=-/usr/bin/udevadm settle --timeout=60");
    }

    @Test
    void the_sites_unit_gets_its_secret_as_a_credential_and_starts_only_where_it_is_configured() throws IOException {
        assertThat(Files.readAllLines(FOLDER.resolve("90-cloister.preset"))).contains("disable " + SITE);
        assertThat(Files.readAllLines(FOLDER.resolve(SITE)))
                .contains(
                        "LoadCredentialEncrypted=site-secret:/etc/cloister/site-secret.cred",
                        "ConditionPathExists=/etc/cloister/site-serve.conf",
                        "ExecStart=/usr/libexec/cloister/site-serve /etc/cloister/site-serve.conf",
                        "RestartPreventExitStatus=64 78",
                        "User=root",
                        "CapabilityBoundingSet=",
                        "AmbientCapabilities=",
                        "ProtectSystem=strict",
                        "StateDirectory=cloister/site")
                .noneMatch(line -> line.startsWith("SetCredential") || line.startsWith("ReadWritePaths"));
    }

    @Test
    void the_vms_daemon_starts_by_itself_where_there_is_a_port_and_its_mounts_are_everybodys() throws IOException {
        assertThat(FOLDER.resolve("agent-vm.preset")).content().contains("enable agent-vm.service");
        assertThat(Files.readAllLines(FOLDER.resolve("agent-vm.service")))
                .contains("WantedBy=cloister.target", "DefaultDependencies=no", "RestartPreventExitStatus=78")
                .anyMatch(line -> line.startsWith("ExecCondition=") && line.contains("org.cloister.agent.0"))
                .noneMatch(line -> line.matches("(Protect|Private|ReadOnly|ReadWrite|Inaccessible)\\w+=.*"));
    }

    @Test
    void the_filter_has_no_right_and_writes_one_folder() throws IOException {
        assertThat(Files.readAllLines(FOLDER.resolve(FILTER)))
                .contains(
                        "User=cloister-filter",
                        "CapabilityBoundingSet=",
                        "ProtectSystem=strict",
                        "ReadWritePaths=/run/cloister/slurm-filter",
                        "RestrictAddressFamilies=AF_INET",
                        "InaccessiblePaths=-/project",
                        "RestartPreventExitStatus=78",
                        "StartLimitIntervalSec=0")
                .noneMatch(line -> line.startsWith("AmbientCapabilities") || line.equals("[Install]"));
    }

    @Test
    void logs_of_ended_vms_are_removed_each_hour_by_a_unit_that_writes_one_folder()
            throws IOException, InterruptedException {
        assertThat(Files.readAllLines(FOLDER.resolve("agent-host.service"))).contains("Wants=agent-host-logs.timer");
        Path timer = FOLDER.resolve("agent-host-logs.timer");
        assertThat(Files.readAllLines(timer)).contains("OnCalendar=hourly");
        Files.writeString(
                folder.resolve(LOGS),
                Files.readString(FOLDER.resolve(LOGS)).replaceAll("(?m)^ExecStart=\\S+", "ExecStart=/bin/true"));
        Path copy = Files.copy(timer, folder.resolve("agent-host-logs.timer"));
        assertThat(analyze("verify", "--man=no", copy.toString()).text()).isEmpty();
        Path wrong = Files.writeString(folder.resolve("wrong.timer"), Files.readString(timer) + "\nNoSuch=1\n");
        assertThat(analyze("verify", "--man=no", wrong.toString()).text()).contains("NoSuch");
        assertThat(Files.readAllLines(FOLDER.resolve(LOGS)))
                .contains("Type=oneshot", "CapabilityBoundingSet=", "ProtectSystem=strict")
                .contains("ReadWritePaths=-/var/log/libvirt/qemu");
    }

    @Test
    void roots_part_is_reached_by_the_hosts_daemon_alone_and_has_no_capability() throws IOException {
        assertThat(Files.readAllLines(FOLDER.resolve(SOCKET)))
                .contains("SocketUser=root", "SocketGroup=cloister-host", "SocketMode=0660", "Accept=yes");
        assertThat(Files.readAllLines(FOLDER.resolve("agent-host-root@.service")))
                .contains("CapabilityBoundingSet=", "NoNewPrivileges=yes", "StandardInput=socket", "LimitCORE=0")
                .noneMatch(line -> line.startsWith("AmbientCapabilities") || line.startsWith("Environment"));
    }

    private static PackagingCommand.Result exposure(Path unit) throws IOException, InterruptedException {
        int worst = Objects.requireNonNull(WORST.get(unit.getFileName().toString()), unit + ": no limit");
        return analyze("security", "--no-pager", "--offline=true", "--threshold=" + worst, unit.toString());
    }

    private static PackagingCommand.Result analyze(String... words) throws IOException, InterruptedException {
        return PackagingCommand.of(Stream.concat(Stream.of("systemd-analyze"), Stream.of(words))
                        .toArray(String[]::new))
                .run();
    }

    @Test
    void persons_sessions_have_bounds_that_leave_room_for_the_queue() throws IOException {
        Map<String, Long> session = numbers("cloister-session@.service");
        Map<String, Long> all = numbers("cloister-sessions.slice");
        assertThat(Files.readAllLines(FOLDER.resolve("cloister-session@.service")))
                .contains("Slice=cloister-sessions.slice");
        assertThat(session.get("LimitNPROC")).as("of one login").isLessThan(session.get("TasksMax"));
        // A kernel of up to 32 CPUs has 32768 numbers for processes.
        assertThat(all.get("TasksMax")).as("of all").isLessThanOrEqualTo(32_768 / 2);
        assertThat(Files.readAllLines(FOLDER.resolve("cloister-sessions.slice")))
                .anyMatch(line -> line.matches("MemoryMax=[1-7][0-9]%"));
    }

    private static Map<String, Long> numbers(String unit) throws IOException {
        return Files.readAllLines(FOLDER.resolve(unit)).stream()
                .filter(line -> line.matches("[A-Za-z]+=[0-9]+"))
                .map(line -> line.split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> Long.valueOf(pair[1])));
    }
}
