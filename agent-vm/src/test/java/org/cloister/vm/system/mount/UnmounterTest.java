package org.cloister.vm.system.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests unmounting with mounts of the test's own, and with a file system that a process uses. */
class UnmounterTest {
    @TempDir
    private Path folder;

    private Process machine;
    private Process inside;
    private ProcessRunner programs;
    private Unmounter unmounting;

    @BeforeEach
    void mount() throws Exception {
        machine = new ProcessBuilder("unshare", "--mount", "sh", "-c", "echo in; exec sleep 120").start();
        assertThat(machine.inputReader().readLine()).isEqualTo("in");
        List<String> enter = List.of("nsenter", "--target", Long.toString(machine.pid()), "--mount");
        programs = ProcessRunner.withPrefix(enter);
        unmounting = new Unmounter(programs, Duration.ofMillis(200));
        programs.runChecked("mount", "-t", "tmpfs", "none", folder.toString());
        inside = new ProcessBuilder(programs.argv(List.of("sh", "-c", "cd " + folder + "; echo in; exec sleep 120")))
                .start();
        assertThat(inside.inputReader().readLine()).isEqualTo("in");
    }

    @AfterEach
    void end() throws InterruptedException {
        for (Process each : List.of(inside, machine)) {
            each.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void what_somebody_is_in_is_out_of_sight_and_they_are_named() throws IOException {
        Unmounter.Outcome outcome = unmounting.unmount(folder);
        assertThat(outcome.clean()).isFalse();
        assertThat(outcome.holders()).extracting(MountHolder::pid).contains(inside.pid());
        assertThat(MountedFileSystem.at(programs, folder)).isEmpty();
    }

    @Test
    void what_is_abandoned_is_out_of_sight_whoever_is_in_it() throws IOException {
        assertThat(unmounting.isResponsive(folder)).isTrue();
        unmounting.abandon(folder);
        assertThat(MountedFileSystem.at(programs, folder)).isEmpty();
        assertThat(inside.isAlive()).isTrue();
        unmounting.abandon(folder);
    }

    /** As stat and umount do on a file system whose server is dead: they wait for it. */
    @Test
    void who_waits_for_a_dead_server_is_not_waited_for() throws IOException {
        ProcessRunner waiting = ProcessRunner.withPrefix(
                List.of("sh", "-c", "case $1 in stat|umount) \"$@\" >&2; exec sleep 60 ;; esac; exec \"$@\"", "sh"));
        Unmounter stuck = new Unmounter(waiting, Duration.ofMillis(200));
        assertThat(stuck.isResponsive(folder)).isFalse();
        Path plain = Files.createDirectories(folder.resolve("plain"));
        stuck.abandon(plain);
    }
}
