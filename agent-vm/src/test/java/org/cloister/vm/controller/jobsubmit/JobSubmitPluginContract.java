package org.cloister.vm.controller.jobsubmit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contract of the installation of a submit plugin in a running slurmctld, of whatever kind. */
public abstract class JobSubmitPluginContract {
    private static final Path SOURCE =
            Path.of(System.getProperty("cloister.root", "..")).resolve("packaging/src/slurm/job_submit.lua");

    @TempDir
    Path folder;

    /** Where slurmctld reads it; a plugin that was laid is there. */
    protected abstract Path installed() throws IOException;

    /** Commands that root runs. */
    protected abstract SlurmCommand slurm() throws IOException;

    /** All that fits the slurmctld, for whatever else uses it. */
    protected abstract SubmitPluginData data(int release) throws IOException;

    protected abstract void stopController() throws IOException;

    protected abstract void startController() throws IOException;

    @Test
    void slurmctld_takes_one_after_the_other_even_within_a_second() throws IOException {
        for (int release = 1; release <= 4; release++) {
            plugin(SOURCE).install(data(release));
        }
        plugin(SOURCE).verify(data(4));
        assertThatThrownBy(() -> plugin(SOURCE).verify(data(3)))
                .isInstanceOf(SubmitPluginRefused.class)
                .hasMessageMatching("submit plugin 3-[0-9a-f]{12}: slurmctld has not loaded it and answers "
                        + "\".*\\(plugin 4-[0-9a-f]{12}\\).*\"; read slurmctld's log");
    }

    @Test
    void a_script_that_lua_cannot_read_is_never_installed() throws IOException {
        refused("slurm_job_submit(", "near 'that'", "line that is no Lua (\n");
    }

    @Test
    void a_script_that_lets_a_nodelist_through_is_never_installed() throws IOException {
        refused("{\"req_nodes\", ", "--nodelist: want a refusal, have 0", "{\"comment\", ");
    }

    @Test
    void a_script_that_lets_its_faults_through_is_never_installed() throws IOException {
        refused("local done, why = pcall(decide, ...)", "", "local done, why = true, decide(...)");
    }

    @Test
    void a_script_without_the_twin_for_changes_is_never_installed() throws IOException {
        refused("function slurm_job_modify(", "slurm_job_modify", "local function unused(");
    }

    /** As if slurmctld read another file. */
    @Test
    void what_slurmctld_did_not_take_is_taken_back() throws IOException {
        plugin(SOURCE).install(data(1));
        Path elsewhere = folder.resolve("job_submit.lua");
        JobSubmitPlugin astray = new JobSubmitPlugin(SOURCE, elsewhere, slurm(), InstantSource.system());
        astray.deploy(data(1));
        String before = Files.readString(elsewhere);
        assertThatThrownBy(() -> astray.install(data(2)))
                .isInstanceOf(SubmitPluginRefused.class)
                .hasMessageContaining("slurmctld has not loaded it");
        assertThat(Files.readString(elsewhere)).isEqualTo(before);
    }

    @Test
    void without_an_answer_the_last_good_one_is_back() throws IOException {
        plugin(SOURCE).install(data(1));
        String before = Files.readString(installed());
        stopController();
        try {
            assertThatThrownBy(() -> plugin(SOURCE).install(data(2)))
                    .isInstanceOf(SlurmUnavailableException.class)
                    .hasMessageContaining("slurmctld does not answer whether it has loaded it");
            assertThat(Files.readString(installed())).isEqualTo(before);
        } finally {
            startController();
        }
        plugin(SOURCE).verify(data(1));
    }

    private void refused(String part, String why, String instead) throws IOException {
        plugin(SOURCE).install(data(1));
        String before = Files.readString(installed());
        String good = Files.readString(SOURCE);
        assertThat(good).contains(part);
        Path broken = Files.writeString(folder.resolve("broken.lua"), good.replace(part, instead));
        assertThatThrownBy(() -> plugin(broken).install(data(2)))
                .isInstanceOf(SubmitPluginRefused.class)
                .hasMessageMatching("submit plugin 2-[0-9a-f]{12}: not installed: its check in Lua failed: .*")
                .hasMessageContaining(why);
        assertThat(Files.readString(installed())).isEqualTo(before);
        plugin(SOURCE).verify(data(1));
    }

    private JobSubmitPlugin plugin(Path source) throws IOException {
        return new JobSubmitPlugin(source, installed(), slurm(), InstantSource.system());
    }
}
