package org.cloister.lab.booted;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.ProgressLog;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Subcommands of {@code lab/site}. */
@Command(name = "site", mixinStandardHelpOptions = true, description = "A site of booted machines on this one.")
public final class BootedSiteCommand {
    private final PrintStream out = System.out;
    private final LabHome home = LabHome.fromEnvironment();

    @Option(
            names = "--site",
            defaultValue = "site",
            paramLabel = "NAME",
            scope = CommandLine.ScopeType.INHERIT,
            description = "among several")
    private String name = "site";

    @Command(name = "up", description = "Boots the machines of a site.")
    void up(
            @Option(
                            names = "--release",
                            defaultValue = "trixie",
                            paramLabel = "SUITE",
                            description = "trixie, bookworm or trixie-selinux; lab/disk makes its disk")
                    String release,
            @Option(names = "--hosts", defaultValue = "1", description = "compute hosts") int hosts,
            @Option(names = "--memory", defaultValue = "6144", paramLabel = "MIB", description = "of each host")
                    int memory)
            throws IOException {
        ProgressLog steps = new ProgressLog(out);
        BootedSite.up(home, new LabName(name), new BootedSite.Plan(release, hosts, memory), steps);
        out.println("site " + name + ": up in " + ProgressLog.seconds(steps.total()));
    }

    @Command(name = "status", description = "Shows the machines of a site.")
    void status() throws IOException {
        if (!Files.exists(home.folder(new LabName(name)))) {
            out.println("site " + name + ": not up; lab/site up starts it");
            return;
        }
        for (BootedMachine machine : BootedSite.attach(home, new LabName(name)).machines()) {
            out.printf(
                    "%-6s %-15s %-9s %5d MiB  %s%n",
                    machine.name(),
                    machine.address(),
                    machine.disk().suite(),
                    machine.memoryMib(),
                    machine.isRunning() ? "running" : "off");
        }
    }

    @Command(name = "down", description = "Removes every trace of a site.")
    void down() throws IOException {
        new ProgressLog(out).runStep("site " + name + ": down", () -> Lab.remove(home, new LabName(name)));
    }

    @Command(name = "run", description = "Runs a shell line as root on a machine.")
    void run(
            @Parameters(paramLabel = "MACHINE") String machine,
            @Parameters(arity = "1..*", paramLabel = "COMMAND") List<String> words)
            throws IOException {
        LabCommand line =
                BootedSite.attach(home, new LabName(name)).machine(machine).command(String.join(" ", words));
        LabCommand.Output output = line.follow(out::println);
        System.err.print(output.err());
        if (output.exit() != 0) {
            throw new LabException(machine + ": exit " + output.exit(), "run it by hand");
        }
    }
}
