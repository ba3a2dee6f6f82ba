package org.cloister.preflight;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks cgroup.conf for what hurts a VM in a job step's cgroup. Slurm reads the file where slurm.conf is, and a
 * configless slurmd in its own folder.
 */
record SlurmCgroupCheck() implements PreflightCheck {
    private static final List<String> FILES = List.of("/run/slurm/conf/cgroup.conf", "/etc/slurm/cgroup.conf");
    /** Sends signals of scancel to each process of a step, not to its parent process alone; cgroup.conf(5). */
    private static final String SIGNALS = "SignalChildrenProcesses";

    private static final Pattern SIGNALS_LINE =
            Pattern.compile("(?im)^\\s*" + SIGNALS + "\\s*=\\s*\"?([a-z0-9]+)\"?\\s*(?:#.*)?$");

    @Override
    public String name() {
        return "slurm-cgroups";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        for (String file : FILES) {
            Optional<String> text = machine.read(file);
            if (text.isEmpty()) {
                continue;
            }
            Matcher line = SIGNALS_LINE.matcher(text.get());
            return line.find() && isYes(line.group(1))
                    ? PreflightFinding.failure(
                            this,
                            file + ": " + SIGNALS + "=yes: scancel's SIGTERM would kill a VM that is to shut down",
                            "remove " + SIGNALS + " from cgroup.conf, then scontrol reconfigure")
                    : PreflightFinding.ok(this, file + " signals a step's tasks alone");
        }
        return PreflightFinding.ok(this, "no cgroup.conf: Slurm's defaults signal a step's tasks alone");
    }

    /** Returns whether Slurm takes a word for true. */
    private static boolean isYes(String word) {
        return List.of("yes", "true", "up", "1").contains(word.toLowerCase(Locale.ROOT));
    }
}
