package org.cloister.lab.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.lab.Poll;
import org.cloister.lab.booted.BootedMachine;
import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.scenario.RotatedScenario;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The units as systemd runs them on a booted site: what they may do, seen from inside, and what happens to a daemon that hangs. */
@Tag("scenario")
@Tag("site")
@Timeout(3600)
@RotatedScenario({})
@ExtendWith(GuidedSite.Resolver.class)
class SiteUnitsTest {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Pattern EXPOSURE = Pattern.compile("Overall exposure level for \\S+: ([0-9.]+)");

    /** Tries one thing a line, and says whether it went. */
    private static final String PROBE = """
            #!/bin/sh
            try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name yes"; else echo "$name no"; fi; }
            try own-folder touch /var/lib/cloister/host/probe
            try sockets-folder touch /run/cloister/probe
            try etc touch /etc/probe
            try usr touch /usr/probe
            try other-var touch /var/lib/probe
            try homes test -e /root/.ssh/authorized_keys
            try shadow grep root /etc/shadow
            try munge-key cat /etc/munge/munge.key
            try kernel-settings sh -c 'echo 1 >/proc/sys/kernel/sysrq'
            try cgroups mkdir /sys/fs/cgroup/probe
            try mount mount -t tmpfs none /run/cloister
            try namespace unshare -U true
            try clock date -s @1
            try module modprobe dummy
            try kernel-log dmesg
            try signal-root kill -0 1
            try priority renice -n -5 $$
            try set-user-id sh -c 'cp /bin/true /var/lib/cloister/host/su && chmod u+s /var/lib/cloister/host/su'
            try packet-socket perl -e 'socket(my $s, 17, 3, 0) or exit 1'
            try raw-socket perl -e 'socket(my $s, 2, 3, 1) or exit 1'
            try tap sh -c 'ip tuntap add probe0 mode tap && ip link del probe0'
            try kvm sh -c ': <>/dev/kvm'
            try disk sh -c ': </dev/vda'
            try new-disk mknod /run/cloister/disk b 254 0
            rm -f /var/lib/cloister/host/probe /var/lib/cloister/host/su /run/cloister/probe /run/cloister/disk
            """;

    /** Of the unit's probe: all else is refused. */
    private static final String PERMITTED = "own-folder yes|sockets-folder yes|tap yes|kvm yes";

    private static final String MAIN_PID = "systemctl show -P MainPID ";

    private GuidedSite guided;
    private BootedSite site;
    private BootedMachine host;

    @BeforeEach
    void up(GuidedSite guided) throws IOException {
        this.guided = guided;
        site = guided.withHost();
        host = site.machine("h1");
    }

    @Test
    void a_program_within_the_fences_of_agent_host_can_do_what_it_needs_and_nothing_else() throws IOException {
        host.write("/usr/local/bin/fence-probe", PROBE);
        host.succeed("""
                chmod 755 /usr/local/bin/fence-probe
                sed -e 's|^ExecStart=.*|ExecStart=/usr/local/bin/fence-probe|' -e 's|^Type=.*|Type=oneshot|' \\
                    -e '/^Restart/d' -e '/^WatchdogSec/d' /usr/lib/systemd/system/agent-host.service \\
                    >/run/systemd/system/fence-probe.service
                systemctl daemon-reload
                """);
        try {
            String report = host.succeed("systemctl start fence-probe; journalctl -u fence-probe -o cat --no-pager");
            assertThat(report.lines().filter(line -> line.matches("[a-z-]+ (yes|no)")))
                    .hasSize((int) PROBE.lines()
                            .filter(line -> line.startsWith("try "))
                            .count())
                    .allMatch(line -> line.endsWith(" yes") == line.matches(PERMITTED));
        } finally {
            host.succeed(
                    "rm /run/systemd/system/fence-probe.service /usr/local/bin/fence-probe; systemctl daemon-reload");
        }
    }

    @Test
    void the_units_that_run_are_no_more_exposed_than_measured() throws IOException {
        Map<String, Double> most = Map.of(
                "h1 agent-host.service", 1.9, "relay agent-relay.service", 1.4, "admin cloister-site-serve", 2.0);
        for (Map.Entry<String, Double> unit : most.entrySet()) {
            String[] words = unit.getKey().split(" ", -1);
            String report = site.machine(words[0]).succeed("systemd-analyze security --no-pager " + words[1]);
            Matcher found = EXPOSURE.matcher(report);
            assertThat(found.find()).as(report).isTrue();
            System.out.println("exposure of " + unit.getKey() + ": " + found.group(1));
            assertThat(Double.parseDouble(found.group(1))).as(report).isLessThanOrEqualTo(unit.getValue());
        }
    }

    @Test
    void the_journal_knows_what_is_a_warning() throws IOException {
        for (String unit : new String[] {"h1 agent-host", "relay agent-relay"}) {
            String[] words = unit.split(" ", -1);
            String journal = "journalctl -o cat --no-pager -u " + words[1] + " -p ";
            assertThat(site.machine(words[0]).succeed(journal + "info..info"))
                    .contains(" INFO ")
                    .doesNotContain(" WARN ", " ERROR ");
            assertThat(site.machine(words[0]).succeed(journal + "warning").lines())
                    .noneMatch(line -> line.contains(" INFO "));
        }
    }

    @Test
    void a_reload_refuses_a_wrong_configuration_and_uses_a_right_one() throws IOException {
        for (String unit : new String[] {"h1 agent-host", "relay agent-relay"}) {
            String[] words = unit.split(" ", -1);
            BootedMachine machine = site.machine(words[0]);
            String file = "/etc/cloister/" + words[1] + ".toml";
            String before = machine.succeed(MAIN_PID + words[1]).strip();
            machine.succeed("cp -p " + file + " /etc/cloister/kept && echo nonsense = 1 >>" + file);
            try {
                assertThat(machine.command("systemctl reload " + words[1]).run().exit())
                        .isNotZero();
                assertThat(machine.succeed("journalctl -o cat --no-pager -u " + words[1]))
                        .contains("nonsense");
                assertThat(machine.succeed("systemctl is-active " + words[1])).isEqualTo("active\n");
                assertThat(machine.succeed(MAIN_PID + words[1]).strip()).isEqualTo(before);
            } finally {
                machine.succeed("mv /etc/cloister/kept " + file);
            }
            machine.succeed("systemctl reload " + words[1]);
            awaitAnother(machine, words[1], before);
        }
        guided.awaitHosts();
    }

    @Test
    void a_daemon_that_hangs_is_restarted_by_its_watchdog() throws IOException {
        for (String unit : new String[] {"h1 agent-host", "relay agent-relay"}) {
            String[] words = unit.split(" ", -1);
            BootedMachine machine = site.machine(words[0]);
            String before = machine.succeed(MAIN_PID + words[1]).strip();
            machine.succeed("kill -STOP " + before);
            awaitAnother(machine, words[1], before);
            assertThat(machine.succeed("journalctl -u " + words[1] + " --no-pager"))
                    .contains("Watchdog timeout");
        }
        guided.awaitHosts();
    }

    /** Waits until the unit's main process is another one and ready. */
    private static void awaitAnother(BootedMachine machine, String unit, String before) throws IOException {
        Poll.until(
                "another " + unit,
                LIMIT,
                "systemctl status " + unit,
                Duration.ofSeconds(5),
                () -> machine.command("systemctl is-active " + unit).run().exit() == 0
                        && !machine.succeed(MAIN_PID + unit).strip().equals(before));
    }
}
