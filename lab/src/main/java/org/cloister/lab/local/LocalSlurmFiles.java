package org.cloister.lab.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.cloister.slurm.SlurmProgram;
import org.cloister.vm.Shape;
import org.cloister.vm.plugin.PluginData;
import org.cloister.vm.plugin.SubmitPlugin;
import org.cloister.vm.slurm.LocalConfiguration;

/** The Local Slurm's files as its packages would lay them: configuration, hooks and the submit plugin. */
final class LocalSlurmFiles {
    /** Names that users may give to {@code --constraint}. */
    static final List<String> FEATURES = List.of("fast", "large", "ib", "local-ssd");

    static final Duration LONGEST = Duration.ofDays(366);
    private static final int MEMORY_PER_CPU_MIB = 1024;

    private static final List<String> HOOKS = List.of("prolog", "epilog", "task-prolog", "epilog-slurmctld");
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private LocalSlurmFiles() {}

    /** The head node's bell, as it is reached from outside. */
    static Path bell(Site site) {
        return site.run().resolve("bell");
    }

    /** @return slurm.conf */
    static String lay(Site site, List<Shape> shapes) throws IOException {
        Path hooks = Files.createDirectories(site.folder().resolve("hooks"));
        for (String hook : HOOKS) {
            Path laid = hooks.resolve(hook);
            Files.copy(packaged(hook), laid, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(laid, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Path profiles = Files.createDirectories(site.folder().resolve("etc/profile.d"));
        Files.copy(packaged("profile.sh"), profiles.resolve("cloister-slurm.sh"), StandardCopyOption.REPLACE_EXISTING);
        Path slurm = Files.createDirectories(site.folder().resolve(site.name()).resolve("etc/slurm"));
        plugin(slurm, Optional.empty()).lay(data(1, shapes));
        return new LocalConfiguration(
                        site.name(),
                        site.name(),
                        Site.HEAD_ADDRESS,
                        Path.of("/var/spool/slurmctld"),
                        hooks,
                        Optional.of("127.0.0.1"),
                        shapes,
                        MEMORY_PER_CPU_MIB,
                        LONGEST)
                .text();
    }

    static PluginData data(int release, List<Shape> shapes) {
        return new PluginData(release, Path.of(Site.RUN, "bell"), FEATURES, shapes, MEMORY_PER_CPU_MIB);
    }

    /** @param programs Slurm's commands */
    static SubmitPlugin plugin(Path slurm, Optional<Path> programs) {
        return new SubmitPlugin(
                packaged("job_submit.lua"),
                slurm.resolve("job_submit.lua"),
                new SlurmProgram(programs, Optional.empty(), LIMIT),
                InstantSource.system());
    }

    private static Path packaged(String file) {
        return Path.of(System.getProperty("cloister.root", ""), "packaging/src/slurm", file)
                .toAbsolutePath();
    }
}
