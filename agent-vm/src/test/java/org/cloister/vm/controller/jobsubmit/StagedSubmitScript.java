package org.cloister.vm.controller.jobsubmit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.slurm.SlurmCommand;
import org.cloister.vm.controller.config.HostShape;

/** The packaged job_submit.lua with data of its own, called in Lua as slurmctld would. */
final class StagedSubmitScript {
    static final Path SOURCE =
            Path.of(System.getProperty("cloister.root", "..")).resolve("packaging/src/slurm/job_submit.lua");
    /** The site that docs/slurm.md has its examples of. */
    static final SubmitPluginData EXAMPLE = new SubmitPluginData(
            1,
            Path.of("/run/cloister/bell"),
            List.of("fast", "big"),
            List.of(new HostShape(2, 64, 128_000, 0), new HostShape(1, 16, 256_000, 100_000)),
            2048);

    private final Path script;
    private final SlurmCommand lua = new SlurmCommand(Optional.empty(), Optional.empty(), Duration.ofSeconds(30));

    StagedSubmitScript(Path folder, SubmitPluginData data) throws IOException {
        script = folder.resolve("staged.lua");
        Files.writeString(
                script,
                Files.readString(SOURCE)
                        .replaceFirst("(?m)^local data = nil.*$", "local data = " + data.lua("1-test")));
    }

    /** Runs {@code calls} after the stage, and hands back what they print. */
    String run(String calls) throws IOException {
        SlurmCommand.Output output =
                lua.run("lua5.1", List.of("-", script.toString()), JobSubmitPlugin.resource("stage.lua") + calls);
        assertThat(output.err()).isEmpty();
        assertThat(output.exit()).isZero();
        return output.out().strip();
    }
}
