package org.cloister.relay.slurm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What of the site's Slurm is configuration.
 *
 * @param programs where sbatch and the others lie, srun on the compute hosts too; by PATH if empty
 * @param configuration a slurm.conf (SLURM_CONF); the programs' own default if empty
 * @param user the service account, whose jobs alone are looked at
 * @param partitions for tickets, and for openings
 * @param step what each node of a job runs, with the ticket's id as one more argument
 * @param limit of each program's run, after which it is killed
 */
public record GlobalSlurmSettings(
        Optional<Path> programs,
        Optional<Path> configuration,
        String user,
        GlobalPartitions partitions,
        List<String> step,
        Duration limit) {
    public static final List<String> DEFAULT_STEP = List.of("/usr/bin/agentctl", "host", "run");
    /** More than Slurm's own 10 s (MessageTimeout), so that its words come before ours. */
    public static final Duration DEFAULT_LIMIT = Duration.ofSeconds(15);

    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_./=-]{1,255}");

    /** @throws IllegalArgumentException if a value is out of its range; the text says which and the range */
    public GlobalSlurmSettings {
        step = List.copyOf(step);
        require("user", GlobalPartitions.NAME, user);
        if (step.isEmpty() || step.size() > 16 || !step.get(0).startsWith("/")) {
            throw new IllegalArgumentException("step: want 1 to 16 words, an absolute path first, have " + step);
        }
        step.forEach(word -> require("step", WORD, word));
        programs.ifPresent(folder -> require("programs", WORD, folder.toString()));
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("limit: want more than 0 s, have " + limit);
        }
    }

    /** Programs by PATH, in the name of this process's user. */
    public static GlobalSlurmSettings of(String partition) {
        return new GlobalSlurmSettings(
                Optional.empty(),
                Optional.empty(),
                System.getProperty("user.name"),
                new GlobalPartitions(partition, Optional.empty()),
                DEFAULT_STEP,
                DEFAULT_LIMIT);
    }

    /** As an argument list or a script has it. */
    String program(String name) {
        return programs.map(folder -> folder.resolve(name).toString()).orElse(name);
    }

    static void require(String what, Pattern pattern, String value) {
        if (!pattern.matcher(value).matches()) {
            throw new IllegalArgumentException(what + ": want " + pattern + ", have " + value);
        }
    }
}
