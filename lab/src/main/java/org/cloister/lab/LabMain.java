package org.cloister.lab;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.bench.Benches;
import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.booted.BootedSiteCommand;
import org.cloister.lab.demo.Demo;
import org.cloister.lab.project.LoadedClasses;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Main class of {@code lab/up}, {@code lab/down}, {@code lab/status}, {@code lab/demo} and {@code lab/bench}. */
@Command(
        name = "lab",
        mixinStandardHelpOptions = true,
        description = "A whole cluster on one machine.",
        subcommands = BootedSiteCommand.class)
public final class LabMain {
    private static final int EXIT_FAILED = 1;

    private final PrintStream out = System.out;
    private final LabHome home = LabHome.fromEnvironment();

    private LabMain() {}

    public static void main(String[] args) {
        CommandLine command = new CommandLine(new LabMain());
        command.setExecutionExceptionHandler((failure, line, parsed) -> {
            System.err.println("lab: error: " + failure.getMessage());
            if (failure instanceof LabException lab) {
                System.err.println("lab: hint: " + lab.remedy());
            } else {
                failure.printStackTrace();
                System.err.println("lab: hint: read what its daemons say below "
                        + LabHome.fromEnvironment().root() + "; what is left of"
                        + " a lab goes with lab/down --all; report this output if it comes again");
            }
            return EXIT_FAILED;
        });
        System.exit(command.execute(args));
    }

    @Command(name = "up", description = "Starts a lab.")
    void up(
            @Option(names = "--lab", defaultValue = "${env:CLOISTER_LAB_NAME:-lab}", paramLabel = "NAME") String name,
            @Option(
                            names = "--release",
                            defaultValue = "",
                            paramLabel = "RELEASE",
                            description = "bookworm, trixie or sid; or MACHINE=RELEASE,... of site, h1 and h2")
                    String release)
            throws IOException {
        LabReleases releases = LabReleases.parse(release, Lab.MACHINES, home);
        ProgressLog steps = new ProgressLog(out);
        out.println("lab " + name + ": up with " + releases);
        Lab.up(home, new LabName(name), releases, steps);
        out.println("lab " + name + ": up in " + ProgressLog.seconds(steps.total()) + "; lab/status shows it");
    }

    @Command(name = "down", description = "Removes every trace of a lab.")
    void down(
            @Option(names = "--lab", defaultValue = "${env:CLOISTER_LAB_NAME:-lab}", paramLabel = "NAME") String name,
            @Option(names = "--all", description = "every lab on this machine") boolean all)
            throws IOException {
        List<LabName> names = all ? home.labs() : List.of(new LabName(name));
        List<LabName> failed = new ArrayList<>();
        for (LabName lab : names) {
            try {
                remove(lab);
            } catch (IOException e) {
                if (!all) {
                    throw e;
                }
                // It may wait for control groups that another lab uses, too.
                failed.add(lab);
            }
        }
        for (LabName lab : failed) {
            remove(lab);
        }
    }

    private void remove(LabName lab) throws IOException {
        new ProgressLog(out).runStep("lab " + lab + ": down", () -> Lab.remove(home, lab));
    }

    @Command(name = "status", description = "Shows the labs on this machine.")
    void status() throws IOException {
        List<LabName> names = home.labs();
        if (names.isEmpty()) {
            out.println("no lab is up; lab/up starts one");
        }
        for (LabName name : names) {
            if (BootedSite.isOne(home, name)) {
                out.println("site " + name + ": lab/site status --site " + name + " shows it");
            } else {
                LabStatus.print(home, name, out);
            }
        }
    }

    @Command(name = "demo", description = "Runs a sensitive job from sbatch to its receipt, and shows that it was one.")
    void demo(
            @Option(
                            names = "--release",
                            defaultValue = "",
                            paramLabel = "RELEASE",
                            description = "of the machines, as for lab/up")
                    String release)
            throws IOException {
        new Demo(home, LabReleases.parse(release, Lab.MACHINES, home), out).run();
    }

    @Command(name = "classes", description = "Adds to a list what agent-vm loads in a project's VMs.")
    void classes(@Parameters(paramLabel = "FILE") Path list) throws IOException {
        LoadedClasses.addTo(list, home, new ProgressLog(out));
    }

    @Command(name = "bench", description = "Measures ours beside the peer's in one run.")
    void bench(
            @Option(names = "--rounds", defaultValue = "5", description = "of each side") int repetitions,
            @Parameters(arity = "0..*", paramLabel = "NAME") List<String> names)
            throws IOException {
        Path results = Files.createDirectories(home.root().resolve("bench"));
        Benches.run(names == null ? List.of() : names, repetitions, home, results, out);
    }
}
