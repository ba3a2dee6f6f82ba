package org.cloister.vm;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.daemon.TomlReader;
import org.cloister.vm.plugin.PluginData;
import org.cloister.vm.queue.ControllerSettings;
import org.cloister.vm.rpcfilter.FilterState;
import org.cloister.vm.slurm.LocalConfiguration;

/**
 * A project's queue where it is at work: what the project says, what the machine fixes, and where things lie. In a controlling
 * VM that an opener opened the three come from its drive, its image and the drive's folders; {@code controller.toml} of a
 * machine that has one project says all of them.
 */
public record ControllerConfig(ProjectSettings project, LocalMachine machine, ProjectFolders folders) {
    /** @throws org.cloister.daemon.BadConfigException with all that is wrong */
    public static ControllerConfig load(Path file) throws IOException {
        TomlReader toml = TomlReader.open(file);
        ControllerConfig config =
                new ControllerConfig(ProjectSettings.read(toml), LocalMachine.read(toml), ProjectFolders.read(toml));
        toml.finish();
        return config;
    }

    public ControllerSettings settings() {
        return project.queue();
    }

    public SlurmSite slurm() {
        return machine.slurm();
    }

    public Optional<Path> metrics() {
        return machine.metrics();
    }

    public Path state() {
        return folders.state();
    }

    public Path run() {
        return folders.run();
    }

    public Path members() {
        return folders.members();
    }

    public Path homes() {
        return folders.homes();
    }

    /** A file that belongs to slurmctld's account: a write to it has the queue looked at. */
    public Path bell() {
        return run().resolve("bell");
    }

    /** {@link org.cloister.vm.status.StatusFiles}' folder. */
    public Path statuses() {
        return run().resolve("jobs");
    }

    /** What the filter before slurmctld keeps. */
    public Path filter() {
        return run().resolve(FilterState.NAME);
    }

    /** What users' commands have for a slurm.conf. */
    public Path clients() {
        return run().resolve("slurm.conf");
    }

    /**
     * The Local Slurm's slurm.conf: what a job may be and what it gets if it does not say is the same there, in tickets and
     * in the plugin.
     *
     * @see LocalConfiguration
     */
    public LocalConfiguration localConfiguration(String host, String address, Path slurmState, Path hooks) {
        return new LocalConfiguration(
                slurm().cluster(),
                host,
                address,
                slurmState,
                hooks,
                bell(),
                Optional.of(slurm().accounting()),
                settings().shapes(),
                project.memoryPerCpuMib(),
                settings().longest());
    }

    /** @see PluginData */
    public PluginData pluginData(int release) {
        return new PluginData(release, bell(), settings().features(), settings().shapes(), project.memoryPerCpuMib());
    }
}
