package org.cloister.vm.controller.daemons;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.drive.DriveOpenRefused;
import org.cloister.vm.rpcfilter.SlurmRelease;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlurmStateReleaseTest {
    @TempDir
    private Path folder;

    private DriveLayout layout;

    @BeforeEach
    void createFolders() throws IOException {
        layout = new DriveLayout(folder);
        Files.createDirectories(layout.agentFolder());
        Files.createDirectories(layout.slurmState());
    }

    private SlurmStateRelease at(SlurmRelease own) {
        return new SlurmStateRelease(layout, own);
    }

    private void haveState() throws IOException {
        Files.createFile(layout.slurmState().resolve("job_state"));
    }

    @Test
    void a_new_drive_and_one_of_the_same_release_are_taken() throws IOException {
        Files.delete(layout.slurmState());
        at(SlurmRelease.V24_11).require();
        Files.createDirectory(layout.slurmState());
        at(SlurmRelease.V24_11).require();
        at(SlurmRelease.V24_11).write();
        haveState();
        at(SlurmRelease.V24_11).require();
        assertThatCode(() -> at(SlurmRelease.V26_05).require()).doesNotThrowAnyException();
    }

    @Test
    void a_drive_of_debian_12s_images_is_refused_by_name() throws IOException {
        haveState();
        assertThatThrownBy(() -> at(SlurmRelease.V24_11).require())
                .isInstanceOf(DriveOpenRefused.class)
                .hasMessage("drive: want state of a Slurm that 24.11 reads, have state of Slurm 22.05;"
                        + " open the project with an image of that release");
        assertThat(layout.agentFolder()).isEmptyDirectory();
    }

    @Test
    void a_drive_of_a_later_or_an_unreadable_release_is_refused() throws IOException {
        haveState();
        at(SlurmRelease.V26_05).write();
        assertThatThrownBy(() -> at(SlurmRelease.V24_11).require()).hasMessageContaining("have state of Slurm 26.05;");
        Files.writeString(layout.agentFolder().resolve("slurm-release"), "");
        assertThatThrownBy(() -> at(SlurmRelease.V24_11).require()).isInstanceOf(DriveOpenRefused.class);
        Files.writeString(layout.agentFolder().resolve("slurm-release"), "9".repeat(21));
        assertThatThrownBy(() -> at(SlurmRelease.V24_11).require()).isInstanceOf(IOException.class);
    }
}
