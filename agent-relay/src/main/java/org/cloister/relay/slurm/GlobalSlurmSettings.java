package org.cloister.relay.slurm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Settings for the site's Slurm.
 *
 * @param programs folder of sbatch and the other programs, and of srun on the compute hosts; if empty they are found in
 *     PATH
 * @param configuration a slurm.conf (SLURM_CONF); if empty the programs use their default
 * @param user the service account; only its jobs are considered
 * @param partitions partitions for tickets and for openings
 * @param step the command that each node of a job runs, with the ticket's id as an additional argument
 * @param limit run time of each program, after which it is killed
 */
public record GlobalSlurmSettings(
        Optional<Path> programs,
        Optional<Path> configuration,
        String user,
        GlobalPartitions partitions,
        List<String> step,
        Duration limit) {
    public static final List<String> DEFAULT_STEP = List.of("/usr/bin/agentctl", "host", "run");
    /** Longer than Slurm's own 10 s (MessageTimeout), so that its error is reported before this limit applies. */
    public static final Duration DEFAULT_LIMIT = Duration.ofSeconds(15);

    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_./=-]{1,255}");

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if a value is out of range; the text states which one and the range
     */
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

    /** Returns settings with programs from PATH and the user of this process. */
    public static GlobalSlurmSettings of(String partition) {
        return new GlobalSlurmSettings(
                Optional.empty(),
                Optional.empty(),
                System.getProperty("user.name"),
                new GlobalPartitions(partition, Optional.empty()),
                DEFAULT_STEP,
                DEFAULT_LIMIT);
    }

    /** Returns a program's path or name for an argument list or a script. */
    String program(String name) {
        return programs.map(folder -> folder.resolve(name).toString()).orElse(name);
    }

    static void require(String what, Pattern pattern, String value) {
        if (!pattern.matcher(value).matches()) {
            throw new IllegalArgumentException(what + ": want " + pattern + ", have " + value);
        }
    }
}
