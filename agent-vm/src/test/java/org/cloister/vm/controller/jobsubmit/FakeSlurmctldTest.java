package org.cloister.vm.controller.jobsubmit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.cloister.slurm.SlurmCommand;
import org.cloister.vm.controller.config.HostShape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FakeSlurmctldTest extends JobSubmitPluginContract {
    private final Path root;
    private final FakeSlurmctld controller;

    FakeSlurmctldTest(@TempDir Path root) throws IOException {
        this.root = root;
        this.controller = new FakeSlurmctld(root, installed());
    }

    @Override
    protected Path installed() {
        return root.resolve("job_submit.lua");
    }

    @Override
    protected SlurmCommand slurm() {
        return controller.programs();
    }

    @Override
    protected SubmitPluginData data(int release) {
        return new SubmitPluginData(
                release,
                Path.of("/run/cloister/bell"),
                List.of("fast"),
                List.of(new HostShape(2, 64, 128_000, 0)),
                1024);
    }

    @Override
    protected void stopController() throws IOException {
        controller.stop();
    }

    @Override
    protected void startController() throws IOException {
        controller.start();
    }

    @Test
    void a_packaged_script_with_no_place_for_data_is_refused(@TempDir Path other) throws IOException {
        Path source = Files.writeString(
                other.resolve("job_submit.lua"),
                Files.readString(StagedSubmitScript.SOURCE).replace("local data = nil", "local data = {}"));
        JobSubmitPlugin plugin = new JobSubmitPlugin(source, installed(), slurm(), InstantSource.system());
        assertThatThrownBy(() -> plugin.deploy(data(1)))
                .isInstanceOf(SubmitPluginRefused.class)
                .hasMessageStartingWith("submit plugin: want the line \"local data = nil ")
                .hasMessageEndingWith("have none; install the package again");
        assertThat(installed()).doesNotExist();
    }
}
