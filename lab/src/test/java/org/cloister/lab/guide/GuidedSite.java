package org.cloister.lab.guide;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.Poll;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.booted.BootedMachine;
import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.booted.BootedSlurm;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A booted site on which {@code docs/first-project.md} is typed. All tests of a run have the same one, for it takes long to come up.
 */
final class GuidedSite implements AutoCloseable {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root"));
    private static final Path GUIDE = ROOT.resolve("docs/first-project.md");
    /** The part of the project's owners, and all that follows. */
    private static final String PROJECT = "## 4. The project, by its owners";

    /** Machines are emulated: a restart of libvirtd alone takes them half a minute. */
    private static final Duration HOST_LIMIT = Duration.ofMinutes(10);

    /** Line of a step that a test adds. */
    private static final int NOT_OF_GUIDE = 0;

    private final LabHome home;
    private final LabName name;
    private final BootedSite site;
    private final GuideRun run;
    /** Number of steps that were carried out. */
    private int typed;

    private GuidedSite(LabHome home, LabName name, BootedSite site) throws IOException {
        this.home = home;
        this.name = name;
        this.site = site;
        this.run = new GuideRun(site);
    }

    /** Gives tests the site of their run. */
    static final class Resolver implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType().equals(GuidedSite.class);
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return context.getRoot()
                    .getStore(ExtensionContext.Namespace.GLOBAL)
                    .getOrComputeIfAbsent(GuidedSite.class, type -> up(), GuidedSite.class);
        }
    }

    private static GuidedSite up() {
        LabHome home = LabHome.fromEnvironment();
        LabName name = new LabName("guide-" + ProcessHandle.current().pid());
        try {
            BootedSite site = BootedSite.up(home, name, plan(), new ProgressLog(System.out));
            return new GuidedSite(home, name, site);
        } catch (IOException e) {
            throw new IllegalStateException("a booted site: " + e.getMessage(), e);
        }
    }

    /** Of a whole run of lab/test, whose turn types the site's part alone, one host; otherwise two, which share drives. */
    private static BootedSite.Plan plan() {
        boolean whole = System.getProperty("cloister.turn", "").isEmpty();
        return new BootedSite.Plan("trixie", whole ? 2 : 1, 6144);
    }

    /** Types the site's part of the guide, to hosts that accept work. */
    BootedSite withHost() throws IOException {
        return type(Files.readAllLines(GUIDE).indexOf(PROJECT) + 1);
    }

    /** Types the whole guide, to a job's receipt. */
    BootedSite withProject() throws IOException {
        return type(Integer.MAX_VALUE);
    }

    /** Types what was not typed yet of the lines before this one. */
    private BootedSite type(int end) throws IOException {
        if (typed == 0) {
            publish();
            replace();
        }
        List<GuideStep> steps = run.steps(GUIDE);
        while (typed < steps.size() && steps.get(typed).line() < end) {
            run.run(steps.get(typed));
            typed++;
        }
        return site;
    }

    /** Types a line at a person's device, as the guide's lines are. */
    void as(String person, String line) throws IOException {
        run.run(new GuideStep.PersonCommands(NOT_OF_GUIDE, person, false, line));
    }

    /** Types a line at a person's device until it succeeds. */
    void asUntil(String person, String line) throws IOException {
        run.run(new GuideStep.PersonCommands(NOT_OF_GUIDE, person, true, line));
    }

    /** Waits until each host accepts work. */
    void awaitHosts() throws IOException {
        for (BootedMachine host : site.hosts()) {
            Poll.until(
                    host.name() + " accepts work",
                    HOST_LIMIT,
                    "agentctl host status",
                    Duration.ofSeconds(5),
                    () -> host.command("agentctl host status").run().exit() == 0);
        }
    }

    /** Returns the VMs on all hosts, each as its host and the process of its QEMU. */
    List<String> vms() throws IOException {
        List<String> vms = new ArrayList<>();
        for (BootedMachine host : site.hosts()) {
            host.command("pgrep -f 'qemu-system-x86_64.*[g]uest='")
                    .run()
                    .out()
                    .lines()
                    .forEach(process -> vms.add(host.name() + " " + process));
        }
        return vms;
    }

    /** Makes the packages' repositories, and puts them and the guest image where the machines can fetch them. */
    private void publish() throws IOException {
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
    private void replace() throws IOException {
        run.replace("https://packages.example.org", "http://outside");
        run.replace("relay.example.org", "relay");
        run.replace("TRUNK", "eth1");
        run.replace("ACCOUNT", BootedSlurm.ACCOUNT);
        run.replace(
                "IDENTITY",
                ImageManifest.load(home.image("production")).identity().toString());
        run.replace(
                " --host h1.pem",
                site.hosts().stream()
                        .map(host -> " --host " + host.name() + ".pem")
                        .collect(Collectors.joining()));
        run.replace("hosts = 16\ncpus = 64\nmemory-mib = 240000\nscratch-mib = 800000", """
                hosts = 1
                cpus = 2
                memory-mib = 2000
                scratch-mib = 2000""");
        run.replace("--make 200G --days 30 --cpus 4 --memory 16G", "--make 2G --days 1 --cpus 1 --memory 1536M");
        run.replace("3> >(lpr)", "3>recovery.key");
        // What an emulated host needs longer for: QEMU's start, and the boot of its guest.
        run.replace("[vm]\ndrives", "[libvirt]\nlimit = 150\n[times]\nregister = 1200\n[vm]\ndrives");
    }

    @Override
    public void close() throws IOException {
        Lab.remove(home, name);
    }
}
