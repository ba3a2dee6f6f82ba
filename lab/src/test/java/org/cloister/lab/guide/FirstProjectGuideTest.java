package org.cloister.lab.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.booted.BootedSlurm;
import org.cloister.lab.scenario.RotatedScenario;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code docs/first-project.md}, typed block by block on a site of machines that boot: from packages to a job's receipt. A whole run
 * of {@code lab/test} that has this as its turn types the site's part, to a host that accepts work.
 */
@Tag("scenario")
@Tag("site")
@Timeout(4800)
class FirstProjectGuideTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root"));
    private static final Path GUIDE = ROOT.resolve("docs/first-project.md");
    /** The part of the project's owners, and all that follows. */
    private static final String PROJECT = "## 4. The project, by its owners";

    private static final Pattern ID = Pattern.compile("\\b[a-z2-7]{52}\\b");
    private static final Pattern KEY = Pattern.compile("\\bMHYw[A-Za-z0-9+/=]{100,}|\\bMFkw[A-Za-z0-9+/=]{80,}");

    private final LabHome home = LabHome.fromEnvironment();
    private final LabName name = new LabName("guide-" + ProcessHandle.current().pid());

    @AfterEach
    void tearDown() throws IOException {
        Lab.remove(home, name);
    }

    @Test
    @RotatedScenario(12)
    void its_commands_lead_from_packages_to_a_receipt() throws Exception {
        BootedSite site =
                BootedSite.up(home, name, new BootedSite.Plan("trixie", 1, 6144), new ProgressLog(System.out));
        publish(site);
        GuideRun run = new GuideRun(site);
        replace(run);
        boolean whole = System.getProperty("cloister.turn", "").isEmpty();
        int end = whole ? Integer.MAX_VALUE : line(PROJECT);
        for (GuideStep step : GuideRun.steps(GUIDE)) {
            if (step.line() < end) {
                learn(run, step, run.run(step));
            }
        }
        assertThat(site.machine("relay").succeed("agentctl relay hosts")).contains("h1.host.site");
        assertThat(site.machine("h1").succeed("systemctl --failed --no-legend")).isBlank();
    }

    /** Makes the packages' repositories, and puts them and the guest image where the machines can fetch them. */
    private void publish(BootedSite site) throws IOException {
        Path gpg = Files.createDirectories(home.folder(name).resolve("gpg"));
        Map<String, String> environment = Map.of("GNUPGHOME", gpg.toString());
        LabCommand.of("chmod", "700", gpg.toString()).succeed();
        LabCommand.of("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "lab", "rsa3072", "sign")
                .with(environment)
                .succeed();
        LabCommand.of(
                        ROOT.resolve("packaging/repository").toString(),
                        "--key",
                        "lab",
                        "--out",
                        site.web().resolve("cloister").toString(),
                        "--url",
                        "http://outside/cloister")
                .with(environment)
                .within(Duration.ofMinutes(5))
                .succeed();
        LabCommand.of("gpgconf", "--kill", "all").with(environment).succeed();
        LabCommand.of(
                        "tar",
                        "-C",
                        home.image("production").toRealPath().toString(),
                        "-cf",
                        site.web().resolve("image.tar").toString(),
                        ".")
                .within(Duration.ofMinutes(5))
                .succeed();
    }

    /** What readers replace by theirs: names and addresses, and the numbers of a larger site. */
    private void replace(GuideRun run) throws IOException {
        run.replace("https://packages.example.org", "http://outside");
        run.replace("relay.example.org", "relay");
        run.replace("TRUNK", "eth1");
        run.replace("ACCOUNT", BootedSlurm.ACCOUNT);
        run.replace(
                "IDENTITY",
                ImageManifest.load(home.image("production")).identity().toString());
        run.replace(
                "2026-12-01T08:00:00Z",
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        run.replace(", {\"name\": \"h2\", \"key\": \"KEY\"}", "");
        run.replace("hosts = 16\ncpus = 64\nmemory-mib = 240000\nscratch-mib = 800000", """
                hosts = 1
                cpus = 2
                memory-mib = 3000
                scratch-mib = 2000""");
        run.replace("--make 200G --days 30 --cpus 4 --memory 16G", "--make 2G --days 1 --cpus 1 --memory 1536M");
        run.replace("| lpr", ">recovery.key");
    }

    /** Keeps what a command printed and the reader needs later. */
    private static void learn(GuideRun run, GuideStep step, String output) {
        if (step instanceof GuideStep.PersonCommands commands) {
            find(ID, output)
                    .filter(id -> commands.script().contains("project create"))
                    .ifPresent(id -> run.replace("PROJECT", id));
            find(KEY, output)
                    .filter(key -> commands.script().contains("openssl"))
                    .ifPresent(key -> run.replace("KEY", key));
        }
    }

    private static Optional<String> find(Pattern pattern, String output) {
        Matcher found = pattern.matcher(output);
        return found.find() ? Optional.of(found.group()) : Optional.empty();
    }

    private static int line(String heading) throws IOException {
        List<String> lines = Files.readAllLines(GUIDE);
        return lines.indexOf(heading) + 1;
    }
}
