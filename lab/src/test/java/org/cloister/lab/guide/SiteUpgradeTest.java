package org.cloister.lab.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.booted.BootedMachine;
import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.scenario.RotatedScenario;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Packages of the next release on a site at work, and back: the relay first and then hosts, hosts first and then the relay. What
 * waits in a job's step with jars that are replaced goes on.
 */
@Tag("scenario")
@Tag("site")
@Timeout(4800)
@RotatedScenario({})
@ExtendWith(GuidedSite.Resolver.class)
class SiteUpgradeTest {
    private static final Path PACKAGES =
            Path.of(System.getProperty("cloister.root")).resolve("packaging/target");
    private static final String NOW = "0.1.0";
    private static final String NEXT = "0.1.0+next";
    private static final Duration LIMIT = Duration.ofMinutes(20);

    @TempDir
    Path folder;

    @Test
    void upgrades_and_downgrades_in_both_orders_lose_and_double_no_job(GuidedSite guided) throws IOException {
        BootedSite site = guided.withProject();
        publish(site.web());
        List<String> controlling = guided.vms();
        guided.as("ann", "ssh cloister 'sbatch -J runs --wrap \"sleep 400\"; sbatch -J waits --wrap true'");
        guided.asUntil("ann", "ssh cloister 'squeue -h -t R -n runs -o %i' | grep .");

        List<String> hosts = site.hosts().stream().map(BootedMachine::name).toList();
        install(site, NEXT, List.of("relay"));
        install(site, NEXT, hosts);
        assertThat(guided.vms()).containsAll(controlling);
        install(site, NOW, hosts);
        install(site, NOW, List.of("relay"));
        assertThat(guided.vms()).containsAll(controlling);

        guided.awaitHosts();
        guided.asUntil("ann", "test -z \"$(ssh cloister squeue -h)\"");
        for (String job : List.of("runs", "waits")) {
            guided.as(
                    "ann",
                    "ssh cloister 'sacct -n -X -D -P --name " + job + " -o State' | tee /dev/stderr | "
                            + "{ read state && test \"$state\" = COMPLETED && ! read other; }");
        }
    }

    /** Puts this release and the next one, which differs by its number, where the machines can fetch them. */
    private void publish(Path served) throws IOException {
        Path web = Files.createDirectories(served.resolve("releases"));
        try (Stream<Path> files = Files.list(PACKAGES)) {
            for (Path deb : files.filter(each -> each.toString().endsWith("_" + NOW + "_all.deb"))
                    .toList()) {
                String name = deb.getFileName().toString();
                Files.copy(deb, web.resolve(name));
                Path tree = folder.resolve(name);
                LabCommand.of("dpkg-deb", "-R", deb.toString(), tree.toString()).succeed();
                Path control = tree.resolve("DEBIAN/control");
                Files.writeString(
                        control,
                        Files.readString(control).replace("\nVersion: " + NOW + "\n", "\nVersion: " + NEXT + "\n"));
                String next = web.resolve(name.replace(NOW, NEXT)).toString();
                LabCommand.of("dpkg-deb", "--root-owner-group", "-Zgzip", "-b", tree.toString(), next)
                        .within(Duration.ofMinutes(5))
                        .succeed();
            }
        }
    }

    private static void install(BootedSite site, String version, List<String> machines) throws IOException {
        for (String name : machines) {
            String daemon = name.equals("relay") ? "relay" : "host";
            site.machine(name)
                    .command("""
                            set -e
                            for p in cloister-agentctl cloister-agent-%s; do
                                curl -fsS -o /tmp/$p.deb http://outside/releases/${p}_%s_all.deb
                            done
                            apt-get install -y --allow-downgrades /tmp/cloister-agentctl.deb /tmp/cloister-agent-%s.deb
                            test "$(dpkg-query -W -f '${Version}' cloister-agent-%s)" = %s
                            systemctl is-active agent-%s
                            """.formatted(daemon, version, daemon, daemon, version, daemon))
                    .within(LIMIT)
                    .succeed();
        }
    }
}
