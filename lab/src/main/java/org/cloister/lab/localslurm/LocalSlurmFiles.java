package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.cloister.slurm.SlurmCommand;
import org.cloister.vm.controller.config.ControllerConfig;
import org.cloister.vm.controller.jobsubmit.JobSubmitPlugin;

/** Writes the Local Slurm's files as its packages would install them: configuration, hooks and the submit plugin. */
final class LocalSlurmFiles {
    /** Names that users may give to {@code --constraint}. */
    private static final List<String> FEATURES = List.of("fast", "large", "ib", "local-ssd");

    private static final Duration LONGEST = Duration.ofDays(366);
    private static final List<String> HOOKS = List.of("prolog", "epilog");
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private LocalSlurmFiles() {}

    /** Returns the head node's file for queue notifications, by its path from outside. */
    static Path bell(ClusterSite site) {
        return site.run().resolve("bell");
    }

    /**
     * Writes agent-vm's configuration and reads it back.
     *
     * @param run agent-vm's folder on tmpfs: {@link ClusterSite#RUN} on the head node, {@link ClusterSite#run} from
     *     outside
     * @param programs Slurm's commands; by PATH if empty
     */
    static ControllerConfig config(ClusterSite site, Path run, int quota, Optional<Path> programs) throws IOException {
        String text = """
                run = "%1$s"
                state = "%2$s"
                [queue]
                tickets = %3$d
                features = [%4$s]
                longest = %5$d
                [slurm]
                cluster = "%6$s"
                %7$s
                [[shape]]
                hosts = %8$d
                cpus = %9$d
                memory-mib = %10$d
                scratch-mib = %11$d
                """.formatted(
                run,
                site.folder().resolve("state"),
                quota,
                String.join(", ", FEATURES.stream().map("\"%s\""::formatted).toList()),
                LONGEST.toSeconds(),
                site.name(),
                programs.map("programs = \"%s\""::formatted).orElse(""),
                SlurmPairFixture.SHAPE.hosts(),
                SlurmPairFixture.SHAPE.cpus(),
                SlurmPairFixture.SHAPE.memoryMib(),
                SlurmPairFixture.SHAPE.scratchMib());
        return ControllerConfig.load(
                Files.writeString(Files.createDirectories(site.folder()).resolve("controller.toml"), text));
    }

    /** @return slurm.conf */
    static String write(ClusterSite site) throws IOException {
        Path hooks = Files.createDirectories(site.folder().resolve("hooks"));
        for (String hook : HOOKS) {
            Path laid = hooks.resolve(hook);
            Files.copy(packaged(hook), laid, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(laid, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Path slurm = Files.createDirectories(site.folder().resolve(site.name()).resolve("etc/slurm"));
        ControllerConfig config = config(site, Path.of(ClusterSite.RUN), 1, Optional.empty());
        plugin(slurm, Optional.empty()).deploy(config.submitPluginData(1));
        return config.localSlurmConf(site.name(), ClusterSite.HEAD_ADDRESS, Path.of("/var/spool/slurmctld"), hooks)
                .text();
    }

    /** @param programs Slurm's commands */
    static JobSubmitPlugin plugin(Path slurm, Optional<Path> programs) {
        return new JobSubmitPlugin(
                packaged("job_submit.lua"),
                slurm.resolve("job_submit.lua"),
                new SlurmCommand(programs, Optional.empty(), LIMIT),
                InstantSource.system());
    }

    private static Path packaged(String file) {
        return Path.of(System.getProperty("cloister.root", ""), "packaging/src/slurm", file)
                .toAbsolutePath();
    }
}
