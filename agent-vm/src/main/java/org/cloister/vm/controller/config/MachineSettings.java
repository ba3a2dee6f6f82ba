package org.cloister.vm.controller.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.daemon.TomlReader;

/**
 * Settings that a controlling VM's machine fixes for every project: table {@code [slurm]} except the defaults of jobs.
 */
public record MachineSettings(LocalSlurmSettings slurm) {
    private static final int HOUR_S = 3600;
    private static final String CLUSTER_NAME = "project";
    private static final String ACCOUNTING = "127.0.0.1";
    private static final Duration LIMIT = Duration.ofSeconds(15);
    private static final Pattern CLUSTER = Pattern.compile("[a-z][a-z0-9-]{0,39}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.:-]{0,252}");

    /**
     * Reads a file that has no other settings, since the project's come with the unlock; without the file, all settings
     * have their defaults.
     *
     * @throws org.cloister.daemon.InvalidConfigException with all problems
     */
    public static MachineSettings load(Path file) throws IOException {
        if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            return new MachineSettings(
                    new LocalSlurmSettings(CLUSTER_NAME, ACCOUNTING, Optional.empty(), Optional.empty(), LIMIT));
        }
        TomlReader toml = TomlReader.open(file);
        MachineSettings machine = read(toml);
        toml.finish();
        return machine;
    }

    /** Reads a file that has other settings too. */
    static MachineSettings read(TomlReader toml) {
        return new MachineSettings(slurm(toml));
    }

    private static LocalSlurmSettings slurm(TomlReader toml) {
        return new LocalSlurmSettings(
                word(
                        toml,
                        "slurm.cluster",
                        CLUSTER_NAME,
                        CLUSTER,
                        "a name of up to 40 lower-case letters, digits, dashes"),
                word(toml, "slurm.accounting", ACCOUNTING, HOST, "a machine's name or address"),
                toml.path("slurm.programs"),
                toml.path("slurm.configuration"),
                toml.seconds("slurm.limit", LIMIT, 1, HOUR_S));
    }

    private static String word(TomlReader toml, String key, String defaultValue, Pattern pattern, String form) {
        String text = toml.text(key, defaultValue);
        if (!pattern.matcher(text).matches()) {
            toml.problem(key, "want " + form + ", have \"" + text + "\"");
        }
        return text;
    }
}
