package org.cloister.preflight.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveMachineTest {
    private final LiveMachine machine = new LiveMachine();

    @AfterEach
    void close() throws Exception {
        machine.close();
    }

    @Test
    void says_of_a_missing_file_folder_and_program_that_they_are_absent() throws Exception {
        assertThat(machine.read("/nowhere/at/all")).isEmpty();
        assertThat(machine.list("/nowhere/at/all")).isEmpty();
        assertThat(machine.list("/proc/version")).isEmpty();
        assertThat(machine.find("no-such-program")).isEmpty();
        assertThat(machine.run("no-such-program", "--version")).isEmpty();
    }

    @Test
    void gives_status_output_and_errors_apart() throws Exception {
        Optional<ProgramResult> result = machine.run("ls", "/proc/version", "/nowhere");
        assertThat(result).isPresent();
        assertThat(result.get().status()).isEqualTo(2);
        assertThat(result.get().out()).isEqualTo("/proc/version\n");
        assertThat(result.get().firstErrorLine()).contains("/nowhere");
    }

    @Test
    void ends_a_program_that_does_not_answer_and_says_so() {
        assertThatThrownBy(() -> machine.run("sleep", "600"))
                .isInstanceOf(UndeterminedException.class)
                .hasMessage("sleep gave no answer within 5 s");
        assertThat(ProcessHandle.current().children()).isEmpty();
    }

    @Test
    void virsh_has_the_time_in_which_it_starts_its_daemon() {
        assertThat(LiveMachine.timeout("virsh")).hasSeconds(30);
        assertThat(LiveMachine.timeout("ovs-vsctl")).hasSeconds(5);
    }

    @Test
    void cuts_what_a_program_prints_without_end() throws Exception {
        Optional<ProgramResult> result = machine.run("head", "-c", "1000000", "/dev/zero");
        assertThat(result).isPresent();
        assertThat(result.get().out()).hasSize(LiveMachine.MAX_OUTPUT_BYTES);
    }

    @Test
    void passes_each_word_as_it_is_and_gives_no_input() throws Exception {
        assertThat(machine.run(List.of("printf", "%s", "$(id); `id` *")))
                .map(ProgramResult::out)
                .contains("$(id); `id` *");
        assertThat(machine.run("cat")).map(ProgramResult::out).contains("");
    }

    @Test
    void takes_no_unreadable_file_for_an_absent_one(@TempDir Path folder) throws Exception {
        Path broken = Files.writeString(folder.resolve("config.gz"), "not packed");
        assertThatThrownBy(() -> machine.read(broken.toString()))
                .isInstanceOf(UndeterminedException.class)
                .hasMessageContaining("config.gz");
    }

    @Test
    void removes_its_scratch_files_when_closed() throws Exception {
        Path file = Path.of(machine.writeTemporaryFile("probe", new byte[] {1}));
        assertThat(file).exists();
        machine.close();
        assertThat(file).doesNotExist();
    }
}
