package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.daemon.InvalidConfigException;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.relay.slurm.GlobalSlurmSettings;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.tickets.TicketTimeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RelayConfigTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root"));

    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("agent-relay.toml"), text);
    }

    @Test
    void all_problems_come_at_once_with_their_lines() throws IOException {
        Path file = file("""
                listen = "relay:7443"
                key = "relay.key"
                lsten = "0.0.0.0:1"
                metrics = "0.0.0.0:9464"
                [limits]
                links = 0
                idle = "1h"
                """);
        InvalidConfigException bad = catchThrowableOfType(InvalidConfigException.class, () -> RelayConfig.load(file));
        assertThat(bad.problems()).hasSize(6);
        assertThat(bad.problems().get(0)).startsWith(file + ":1: listen: want ADDRESS:PORT");
        assertThat(bad.problems().get(1)).isEqualTo(file + ":2: key: want an absolute path, have \"relay.key\"");
        assertThat(bad.problems().get(2)).startsWith(file + ":3: lsten: unknown key; known: listen, ");
        assertThat(bad.problems().get(3)).startsWith(file + ":4: metrics: want an address of loopback");
        assertThat(bad.problems().get(4)).isEqualTo(file + ":6: limits.links: want 1 to 1000000, have 0");
        assertThat(bad.problems().get(5)).isEqualTo(file + ":7: limits.idle: want 1 to 86400, have 1h");
    }

    @Test
    void slurm_and_the_network_are_checked_with_their_lines() throws IOException {
        Path file = file("""
                [slurm]
                partition = "no good"
                boot = 1
                [network]
                range = "10.64.0.0/20"
                reserved-vlans = [5, 4095]
                """);
        InvalidConfigException bad = catchThrowableOfType(InvalidConfigException.class, () -> RelayConfig.load(file));
        assertThat(bad.problems()).hasSize(4);
        assertThat(bad.problems().get(0)).startsWith(file + ":2: slurm.partition: partition: want ");
        assertThat(bad.problems().get(1)).isEqualTo(file + ":3: slurm.boot: want 60 to 3600, have 1");
        assertThat(bad.problems().get(2)).startsWith(file + ":5: network.range: network: want one that has ");
        assertThat(bad.problems().get(3))
                .isEqualTo(file + ":6: network.reserved-vlans: want numbers from 1 to 4094, have 4095");
    }

    @Test
    void without_a_partition_for_controlling_VMs_there_is_none() throws IOException {
        GlobalSlurmSettings without = RelayConfig.load(file("[slurm]\npartition = \"secure\"\n"))
                .slurm()
                .orElseThrow();
        assertThat(without.partitions()).isEqualTo(new GlobalPartitions("secure", Optional.empty()));
        Path file = file("[slurm]\npartition = \"secure\"\ncontrollers = \"no good\"\n");
        assertThatThrownBy(() -> RelayConfig.load(file))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("controllers: want ");
    }

    @Test
    void a_key_twice_and_a_torn_line_are_problems() throws IOException {
        Path file = file("state = \"/a\"\nstate = \"/b\"\nsocket =\n");
        assertThatThrownBy(() -> RelayConfig.load(file))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining(file + ":2:")
                .hasMessageContaining(file + ":3:");
    }

    /** The sample's lines, taken as they are and without their comment signs, are the defaults. */
    @Test
    void the_sample_shows_every_key_with_its_default() throws IOException {
        String sample = Files.readString(ROOT.resolve("agent-relay/src/main/config/agent-relay.toml"));
        RelayConfig asIs = RelayConfig.load(file(sample));
        String open = Pattern.compile("^#([a-z-]+ = )", Pattern.MULTILINE)
                .matcher(sample)
                .replaceAll("$1");
        RelayConfig opened = RelayConfig.load(file(open));
        assertThat(opened.limits()).isEqualTo(asIs.limits()).isEqualTo(RelayLimits.DEFAULT);
        assertThat(opened.listen()).isEqualTo(asIs.listen());
        assertThat(opened.key()).isEqualTo(asIs.key());
        assertThat(opened.certificate()).isEqualTo(asIs.certificate());
        assertThat(opened.site()).isEqualTo(asIs.site());
        assertThat(opened.state()).isEqualTo(asIs.state());
        assertThat(opened.socket()).isEqualTo(asIs.socket());
        assertThat(opened.times()).isEqualTo(asIs.times()).isEqualTo(TicketTimeouts.DEFAULT);
        assertThat(opened.pool()).isEqualTo(asIs.pool()).isEqualTo(NetworkPool.DEFAULT);
        assertThat(asIs.slurm()).isEmpty();
        GlobalSlurmSettings slurm = opened.slurm().orElseThrow();
        assertThat(slurm.step()).isEqualTo(GlobalSlurmSettings.DEFAULT_STEP);
        assertThat(slurm.partitions().controllers()).contains("controllers");
        assertThat(slurm.limit()).isEqualTo(GlobalSlurmSettings.DEFAULT_LIMIT);
        assertThat(asIs.metrics()).isNull();
        assertThat(opened.metrics()).isNotNull();
    }

    @Test
    void the_protocols_document_has_the_defaults() throws IOException {
        Map<String, Long> documented = new HashMap<>();
        Matcher rows = Pattern.compile("^\\| `([a-z-]+)`\\* \\| ([0-9]+) \\|", Pattern.MULTILINE)
                .matcher(Files.readString(ROOT.resolve("docs/protocol.md")));
        while (rows.find()) {
            documented.put(rows.group(1), Long.parseLong(rows.group(2)));
        }
        RelayLimits limits = RelayLimits.DEFAULT;
        assertThat(documented)
                .isEqualTo(Map.of(
                        "links", (long) limits.links(),
                        "handshakes", (long) limits.handshakes(),
                        "project-circuits", (long) limits.projectCircuits(),
                        "project-opens", (long) limits.projectOpens(),
                        "idle", limits.idle().toSeconds(),
                        "drain", limits.drain().toSeconds()));
    }
}
