package org.cloister.vm.system.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon is kept running, found again by the next agent, and nobody else's process is taken for it. */
@Tag("boundary")
class SupervisedDaemonTest {
    private static final List<String> SLEEP = List.of("sleep", "600");

    private final String name = "sleep-" + ProcessHandle.current().pid();
    private final SupervisedDaemon daemon = daemon();

    private SupervisedDaemon daemon() {
        return new SupervisedDaemon(ProcessRunner.local(), name, SLEEP, Map.of(), Path.of("/dev/null"));
    }

    @AfterEach
    void stop() throws IOException {
        daemon.stop();
    }

    @Test
    void it_is_started_again_when_it_ends_and_not_after_it_was_stopped() throws IOException {
        daemon.start();
        long first = only();
        ProcessHandle.of(first).orElseThrow().destroyForcibly();
        await(() -> daemon.processes().stream().anyMatch(process -> process.pid() != first));
        daemon.stop();
        assertThat(daemon.processes()).isEmpty();
    }

    @Test
    void the_next_agent_finds_it_and_starts_no_second() throws IOException {
        daemon.start();
        long first = only();
        daemon.detach();
        SupervisedDaemon next = daemon();
        next.start();
        assertThat(only()).isEqualTo(first);
        next.stop();
        assertThat(daemon.processes()).isEmpty();
    }

    @Test
    void a_users_process_with_the_word_in_its_environment_is_not_taken_for_it() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "another user's process is root's to start");
        ProcessBuilder users = new ProcessBuilder("setpriv", "--reuid", "65534", "--clear-groups", "sleep", "600");
        users.environment().put("CLOISTER_DAEMON", name);
        Process forged = users.start();
        try {
            // Until setpriv has become the user's, it is root's.
            await(() -> forged.info().command().orElse("").endsWith("sleep"));
            assertThat(daemon.processes()).isEmpty();
            daemon.start();
            assertThat(only()).isNotEqualTo(forged.pid());
            daemon.stop();
            assertThat(forged.isAlive()).isTrue();
        } finally {
            forged.destroyForcibly().waitFor(5, TimeUnit.SECONDS);
        }
    }

    @Test
    void one_that_has_given_root_up_for_an_account_of_its_own_is_found_and_ended() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "nobody else can give root up");
        List<String> command = List.of("setpriv", "--reuid", "402", "--clear-groups", "sleep", "600");
        SupervisedDaemon modest =
                new SupervisedDaemon(ProcessRunner.local(), name + "-modest", command, Map.of(), Path.of("/dev/null"));
        modest.start();
        await(() -> modest.processes().stream()
                .anyMatch(process -> process.info().command().orElse("").endsWith("sleep")));
        ProcessHandle process = modest.processes().get(0);
        modest.stop();
        assertThat(process.isAlive()).isFalse();
    }

    /** More than the bound at once, and then a line each moment, as charon does. */
    @Test
    void what_it_says_has_a_bound_and_the_last_of_it_is_kept(@TempDir Path folder) throws IOException {
        Path outputFile = folder.resolve("said");
        Path own = folder.resolve("own");
        String session = "exec 3>>\"$1\"; for each in 1 3; do seq -f 'line %08.0f' 500000 >&$each; done;"
                + " while echo last; echo last >&3; do sleep 0.1; done";
        List<String> command = List.of("sh", "-c", session, "sh", own.toString());
        SupervisedDaemon talker =
                new SupervisedDaemon(ProcessRunner.local(), name + "-talker", command, Map.of(), outputFile, own);
        talker.start();
        try {
            for (Path log : List.of(outputFile, own)) {
                await(() -> size(log) < 2 << 20 && text(log).contains("line 00500000\n"));
                assertThat(text(log)).startsWith("line ");
                long cut = size(log);
                await(() -> size(log) > cut);
            }
        } finally {
            talker.stop();
        }
    }

    private static long size(Path file) {
        return text(file).length();
    }

    private static String text(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long only() {
        List<ProcessHandle> running = daemon.processes();
        assertThat(running).hasSize(1);
        return running.get(0).pid();
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("within 20 s").isLessThan(deadline);
            try {
                TimeUnit.MILLISECONDS.sleep(20);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void a_daemon_is_started_once_found_by_another_and_started_again(@TempDir Path folder) throws Exception {
        SupervisedDaemon first = sleeper(folder);
        SupervisedDaemon second = sleeper(folder);
        try {
            first.start();
            List<ProcessHandle> running = first.processes();
            assertThat(running).hasSize(1);
            first.detach();
            second.start();
            assertThat(second.processes()).isEqualTo(running);
            running.get(0).destroyForcibly();
            running.get(0).onExit().get();
            long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
            while (second.processes().isEmpty() && System.nanoTime() < deadline) {
                Thread.sleep(20);
            }
            assertThat(second.processes()).hasSize(1).doesNotContainAnyElementsOf(running);
        } finally {
            first.stop();
            second.stop();
        }
        assertThat(first.processes()).isEmpty();
    }

    private static SupervisedDaemon sleeper(Path folder) {
        return new SupervisedDaemon(
                ProcessRunner.local(), "test " + folder, List.of("sleep", "600"), Map.of(), folder.resolve("log"));
    }
}
