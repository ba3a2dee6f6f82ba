package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.RecordedMachine;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Tests that a command is the same whether the whole tree was built or only what its line needs. */
class CommandTreeTest {
    private static final ProfileStore PROFILES = new ProfileStore(Path.of("no-profiles"), null);

    private final InspectedMachine machine = RecordedMachine.parse("program none\n");

    CommandTreeTest() throws IOException {}

    @Test
    void each_command_is_in_both() {
        Map<String, Class<?>> annotated = Arrays.stream(
                        Agentctl.class.getAnnotation(CommandLine.Command.class).subcommands())
                .collect(Collectors.toMap(
                        each -> each.getAnnotation(CommandLine.Command.class).name(), each -> each));
        assertThat(annotated).isEqualTo(Agentctl.COMMANDS);
    }

    @Test
    void each_command_has_the_same_help_alone() {
        Map<String, String> whole = helps(new Agentctl(machine, PROFILES).commandLine());
        Map<String, String> alone = new TreeMap<>();
        for (String name : Agentctl.COMMANDS.keySet()) {
            alone.putAll(helps(Agentctl.commandLine(machine, PROFILES, name)));
        }
        whole.remove("agentctl");
        alone.remove("agentctl");
        assertThat(alone).isEqualTo(whole);
    }

    private static Map<String, String> helps(CommandLine line) {
        Map<String, String> helps = new TreeMap<>();
        helps.put(line.getCommandSpec().qualifiedName(), line.getUsageMessage(CommandLine.Help.Ansi.OFF));
        line.getSubcommands().values().forEach(each -> helps.putAll(helps(each)));
        return helps;
    }

    @Test
    void other_words_get_the_whole_trees_help() {
        for (String[] args : new String[][] {{}, {"--help"}, {"hosts"}, {"--debug", "host", "status"}}) {
            assertThat(Agentctl.commandLine(machine, PROFILES, args).getSubcommands())
                    .hasSize(Agentctl.COMMANDS.size());
        }
    }

    @Test
    void a_command_alone_runs_and_reports_as_in_the_tree() {
        StringWriter out = new StringWriter();
        assertThat(Agentctl.commandLine(machine, PROFILES, "version")
                        .setOut(new PrintWriter(out))
                        .execute("version"))
                .isZero();
        assertThat(out.toString()).startsWith("agentctl ");
        StringWriter err = new StringWriter();
        assertThat(Agentctl.commandLine(machine, PROFILES, "host")
                        .setErr(new PrintWriter(err))
                        .execute("host", "nothing"))
                .isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).contains("agentctl: error: ");
    }
}
