package org.cloister.vm.controller.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.daemon.TomlReader;
import org.cloister.vm.controller.jobsubmit.SubmitPluginData;
import org.cloister.vm.controller.queue.QueueSettings;
import org.cloister.vm.controller.slurm.LocalSlurmConf;
import org.cloister.vm.rpcfilter.FilterStateFile;

/**
 * A project's queue where it is at work: what the project says, what the machine fixes, and where things lie. In a controlling
 * VM that an opener opened the three come from its drive, its image and the drive's folders; {@code controller.toml} of a
 * machine that has one project says all of them.
 */
public record ControllerConfig(ProjectSettings project, MachineSettings machineSettings, ProjectFolders folders) {
    /** @throws org.cloister.daemon.InvalidConfigException with all that is wrong */
    public static ControllerConfig load(Path file) throws IOException {
        TomlReader toml = TomlReader.open(file);
        ControllerConfig config =
                new ControllerConfig(ProjectSettings.read(toml), MachineSettings.read(toml), ProjectFolders.read(toml));
        toml.finish();
        return config;
    }

    public QueueSettings settings() {
        return project.queue();
    }

    public LocalSlurmSettings slurm() {
        return machineSettings.slurm();
    }

    public Optional<Path> metrics() {
        return machineSettings.metrics();
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
    public Path notifyFile() {
        return run().resolve("bell");
    }

    /** {@link org.cloister.vm.controller.status.JobStatusFiles}' folder. */
    public Path statusFolder() {
        return run().resolve("jobs");
    }

    /** What the filter before slurmctld keeps. */
    public Path filterStateFile() {
        return run().resolve(FilterStateFile.NAME);
    }

    /** What users' commands have for a slurm.conf. */
    public Path clientSlurmConf() {
        return run().resolve("slurm.conf");
    }

    /**
     * The Local Slurm's slurm.conf: what a job may be and what it gets if it does not say is the same there, in tickets
     * and in the plugin.
     *
     * @see LocalSlurmConf
     */
    public LocalSlurmConf localSlurmConf(String host, String address, Path slurmState, Path hooks) {
        return new LocalSlurmConf(
                slurm().cluster(),
                host,
                address,
                slurmState,
                hooks,
                notifyFile(),
                Optional.of(slurm().accounting()),
                settings().shapes(),
                project.memoryPerCpuMib(),
                settings().maxJobTime());
    }

    /** @see SubmitPluginData */
    public SubmitPluginData submitPluginData(int release) {
        return new SubmitPluginData(
                release, notifyFile(), settings().features(), settings().shapes(), project.memoryPerCpuMib());
    }
}
