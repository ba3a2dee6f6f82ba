package org.cloister.vm.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.vm.controller.drive.EndReportFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControllerShutdownTest {
    private static final Instant TIME = Instant.parse("2026-06-02T09:30:00Z");

    private final List<Runnable> tasks = new ArrayList<>();
    private final List<String> ended = new ArrayList<>();

    @TempDir
    private Path folder;

    private EndReportFile file;
    private ControllerShutdown end;

    @BeforeEach
    void start() throws IOException {
        file = new EndReportFile(Files.createDirectories(folder.resolve("agent")));
        end = new ControllerShutdown(
                tasks::add,
                why -> file.write(VmEndReport.of(TIME, why)),
                () -> ended.add("released with " + file.read().map(VmEndReport::reason)),
                new VmShutdown(why -> ended.add("off: " + why), why -> ended.add("cut: " + why)));
    }

    private void work() {
        tasks.forEach(Runnable::run);
        tasks.clear();
    }

    @Test
    void a_failure_is_on_the_drive_before_the_drive_is_released_and_once() {
        end.shutDownAfterFailure("the project cannot start: a test");
        assertThat(end.isOver()).isTrue();
        end.shutDownAfterFailure("the queue failed");
        work();
        assertThat(ended)
                .containsExactly(
                        "released with Optional[the project cannot start: a test]",
                        "off: the project cannot start: a test");
    }

    @Test
    void an_end_on_request_leaves_no_report_and_neither_does_what_fails_in_it() {
        assertThat(end.start()).isTrue();
        end.shutDownOnRequest("its host stops it");
        end.shutDownAfterFailure("the project cannot start: its daemons were stopped");
        work();
        assertThat(ended).containsExactly("released with Optional.empty", "off: its host stops it");
        assertThat(folder.resolve("agent")).isEmptyDirectory();
    }

    @Test
    void a_vm_that_cuts_its_power_writes_nothing() {
        end.cutPower("another VM was given the drive");
        end.shutDownAfterFailure("the queue failed");
        work();
        assertThat(ended).containsExactly("cut: another VM was given the drive");
        assertThat(folder.resolve("agent")).isEmptyDirectory();
    }

    @Test
    void a_report_that_cannot_be_written_does_not_keep_the_vm_on() throws IOException {
        Files.delete(folder.resolve("agent"));
        end.shutDownAfterFailure("the queue failed");
        work();
        assertThat(ended).containsExactly("released with Optional.empty", "off: the queue failed");
    }
}
