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
 * Configuration of a project's queue: the project's settings, those of the machine, and the folders. In a controlling
 * VM that an opener opened they come from its drive, its image and the drive's folders; on a machine that has one
 * project, {@code controller.toml} has all of them.
 */
public record ControllerConfig(ProjectSettings project, MachineSettings machineSettings, ProjectFolders folders) {
    /**
     * Reads all settings from one file.
     *
     * @throws org.cloister.daemon.InvalidConfigException with all problems
     */
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

    /** Returns the file that belongs to slurmctld's account; a write to it causes a poll of the queue. */
    public Path notifyFile() {
        return run().resolve("bell");
    }

    /** Returns the folder of {@link org.cloister.vm.controller.status.JobStatusFiles}. */
    public Path statusFolder() {
        return run().resolve("jobs");
    }

    /** Returns the state file of the filter in front of slurmctld. */
    public Path filterStateFile() {
        return run().resolve(FilterStateFile.NAME);
    }

    /**
     * Returns the Local Slurm's slurm.conf. It has the same limits and defaults of jobs as tickets and the submit
     * plugin.
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
