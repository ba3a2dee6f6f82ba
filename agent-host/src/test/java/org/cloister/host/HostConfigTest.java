package org.cloister.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.daemon.InvalidConfigException;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.SevDecision;
import org.cloister.ovs.BridgeConfig;
import org.cloister.protocol.ticket.MemoryReserves;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostConfigTest {
    private static final Path SAMPLE =
            Path.of(System.getProperty("cloister.root")).resolve("packaging/src/agent-host/agent-host.toml");
    private static final String RELAYS = "relays = [\"r.example.org:7443\"]\n";

    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("agent-host.toml"), text);
    }

    private List<String> problems(String text) throws IOException {
        Path file = file(text);
        InvalidConfigException bad =
                catchThrowableOfType(InvalidConfigException.class, () -> HostConfig.load(file, "n1"));
        return bad.problems().stream()
                .map(each -> each.substring(file.toString().length() + 1))
                .toList();
    }

    @Test
    void a_file_with_relays_alone_is_enough() throws IOException {
        HostConfig config = HostConfig.load(file(RELAYS), "n1");
        assertThat(config.relays()).containsExactly(InetSocketAddress.createUnresolved("r.example.org", 7443));
        assertThat(config.slurm().node()).isEqualTo("n1");
        assertThat(config.slurm().account()).isEqualTo("cloister-relay");
        assertThat(config.metrics()).isNull();
        assertThat(config.vm().debugConsole()).isFalse();
        assertThat(config.vm().accelerator()).as("in production").hasValue(Accelerator.KVM);
        assertThat(config.vm().launchSecurity()).isEqualTo(SevDecision.Mode.OFF);
        assertThat(config.vm().backing()).isEqualTo(MemoryBacking.PLAIN);
        assertThat(config.bridge()).isEqualTo(BridgeConfig.of(Path.of("/var/run/openvswitch"), null));
        for (Accelerator each : Accelerator.values()) {
            assertThat(config.vm().reserves().of(each)).isEqualTo(MemoryReserves.defaults(each == Accelerator.TCG));
        }
    }

    @Test
    void all_problems_come_at_once_with_their_lines() throws IOException {
        assertThat(problems("""
                        relays = ["relay", "r:0"]
                        relay-names = ["h1.host.site.cloister.internal"]
                        state = "/var/lib/../x"
                        group = "a b"
                        metrics = "0.0.0.0:1"
                        stat = 1
                        [slurm]
                        node = "two words"
                        [libvirt]
                        uri = "qemu+ssh://other/system"
                        [bridge]
                        uplink = "0123456789abcdef"
                        [vm]
                        launch-security = "on"
                        debug-console = true
                        tpm = 1
                        [memory]
                        hugepages-kib = 64
                        guest-mib = -1
                        [times]
                        round = 61
                        drive = 11
                        unresponsive = 9
                        """))
                .satisfiesExactly(
                        each -> assertThat(each)
                                .startsWith("1: relays: want HOST:PORT")
                                .endsWith("have relay"),
                        each -> assertThat(each)
                                .startsWith("1: relays: want HOST:PORT")
                                .endsWith("have r:0"),
                        each -> assertThat(each).startsWith("2: relay-names: want a relay of the site, have h1.host."),
                        each -> assertThat(each).startsWith("3: state: want a path of letters"),
                        each -> assertThat(each).isEqualTo("4: group: want a group's name, have \"a b\""),
                        each -> assertThat(each).startsWith("5: metrics: want an address of loopback"),
                        each -> assertThat(each).startsWith("6: stat: unknown key; known: "),
                        each -> assertThat(each).startsWith("8: slurm.node: want this host's name"),
                        each -> assertThat(each).startsWith("10: libvirt.uri: want qemu:///system"),
                        each -> assertThat(each).startsWith("12: bridge.uplink: want a device's name"),
                        each -> assertThat(each)
                                .isEqualTo("14: vm.launch-security: want one of off, preferred, required,"
                                        + " have \"on\""),
                        each -> assertThat(each)
                                .startsWith("15: vm.debug-console: must be false if vm.production is true"),
                        each -> assertThat(each).isEqualTo("16: vm.tpm: want true or false, have 1"),
                        each -> assertThat(each)
                                .isEqualTo("18: memory.hugepages-kib: hugepages: want 2048 or 1048576 KiB, have 64"),
                        each -> assertThat(each).isEqualTo("19: memory.guest-mib: want 0 to 16777216, have -1"),
                        each -> assertThat(each).isEqualTo("21: times.round: want 1 to 60, have 61"),
                        each -> assertThat(each).isEqualTo("22: times.drive: want 12 to 3600, have 11"),
                        each -> assertThat(each).isEqualTo("23: times.unresponsive: want 10 to 86400, have 9"));
    }

    @Test
    void relays_must_be_named_and_a_state_folder_leaves_room_for_sockets() throws IOException {
        String longest = "/" + "s".repeat(62);
        assertThat(HostConfig.load(file(RELAYS + "state = \"" + longest + "\"\n"), "n1")
                        .folders()
                        .state())
                .hasToString(longest);
        assertThat(problems("state = \"" + longest + "s\"\n"))
                .containsExactlyInAnyOrder(
                        "1: relays: missing",
                        "1: state: expected at most 63 characters, because sockets are created below it, got 64");
    }

    @Test
    void a_console_for_debugging_is_for_hosts_that_are_not_in_production() throws IOException {
        HostConfig config = HostConfig.load(file(RELAYS + "[vm]\nproduction = false\ndebug-console = true\n"), "n1");
        assertThat(config.vm().debugConsole()).isTrue();
        assertThat(config.vm().accelerator()).as("what is found").isEmpty();
    }

    @Test
    void memory_that_no_step_counts_has_to_be_accepted_by_name() throws IOException {
        for (String setting : List.of("[memory]\nlocked = true\n", "[vm]\nlaunch-security = \"preferred\"\n")) {
            String key = setting.contains("locked") ? "memory.locked" : "vm.launch-security";
            assertThat(problems(RELAYS + setting))
                    .singleElement()
                    .satisfies(each -> assertThat(each)
                            .contains(key + ": ")
                            .contains("not counted in its job's step")
                            .contains("set memory.uncounted = true to accept that"));
        }
        HostConfig accepted = HostConfig.load(file(RELAYS + "[memory]\nlocked = true\nuncounted = true\n"), "n1");
        assertThat(accepted.vm().backing().locked()).isTrue();
        HostConfig huge = HostConfig.load(file(RELAYS + "[memory]\nlocked = true\nhugepages-kib = 2048\n"), "n1");
        assertThat(huge.vm().backing().locked())
                .as("huge pages are in no memory cgroup anyway")
                .isTrue();
    }

    /** The sample's lines, taken as they are and without their comment signs, are the defaults. */
    @Test
    void the_sample_shows_every_key_with_its_default() throws IOException {
        String sample = Files.readString(SAMPLE);
        HostConfig asIs = HostConfig.load(file(sample), "n1");
        String open = Pattern.compile("^#([a-z-]+ = )", Pattern.MULTILINE)
                .matcher(sample)
                .replaceAll("$1");
        HostConfig opened = HostConfig.load(file(open), "other");
        assertThat(opened.folders()).isEqualTo(asIs.folders());
        assertThat(opened.credentials()).isEqualTo(asIs.credentials());
        assertThat(opened.group()).isEqualTo(asIs.group());
        assertThat(opened.slurm().node()).isEqualTo("n1");
        assertThat(opened.slurm().account()).isEqualTo(asIs.slurm().account());
        assertThat(opened.slurm().limit()).isEqualTo(asIs.slurm().limit());
        assertThat(opened.libvirt()).isEqualTo(asIs.libvirt());
        assertThat(opened.bridge().uplink()).isEqualTo("eth1");
        assertThat(new BridgeConfig(
                        opened.bridge().bridge(),
                        opened.bridge().runDirectory(),
                        opened.bridge().agent(),
                        null,
                        opened.bridge().datapath(),
                        opened.bridge().devicePrefix(),
                        opened.bridge().nft(),
                        opened.bridge().deadline(),
                        opened.bridge().audit()))
                .isEqualTo(asIs.bridge());
        assertThat(opened.vm().reserves().of(Accelerator.KVM)).isEqualTo(MemoryReserves.defaults(false));
        assertThat(opened.vm().timeouts()).isEqualTo(asIs.vm().timeouts());
        assertThat(opened.vm().passInterval())
                .isEqualTo(asIs.vm().passInterval())
                .isEqualTo(Duration.ofSeconds(60));
        assertThat(opened.vm().launchSecurity()).isEqualTo(asIs.vm().launchSecurity());
        assertThat(opened.vm().tpm()).isEqualTo(asIs.vm().tpm());
        assertThat(opened.vm().leaseAge()).isEqualTo(asIs.vm().leaseAge()).isEqualTo(Duration.ofMinutes(4));
        assertThat(asIs.vm().drives()).isEmpty();
        assertThat(opened.vm().drives()).contains(Path.of("/srv/cloister/drives"));
        assertThat(asIs.scratchMib()).isEmpty();
        assertThat(opened.scratchMib()).isEqualTo(OptionalInt.of(1 << 20));
        assertThat(asIs.relayNames()).isEqualTo(Set.of());
        assertThat(opened.relayNames()).hasSize(1);
        assertThat(opened.metrics()).isNotNull();
    }
}
