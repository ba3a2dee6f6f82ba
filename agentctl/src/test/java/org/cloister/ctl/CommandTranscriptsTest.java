package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.preflight.machine.RecordedMachine;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * Every file in {@code transcripts/} is a command after {@code $}, its exit status after {@code =}, what it prints after
 * {@code <} and its errors after {@code !}, and from the first blank line on what the machine answered.
 */
class CommandTranscriptsTest {
    private static final Path FOLDER = Path.of("src/test/resources/transcripts");

    static List<String> transcripts() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("transcripts")
    void prints(String name) throws IOException {
        String[] parts = Files.readString(FOLDER.resolve(name)).split("\n\n", 2);
        String command = parts[0].lines().findFirst().orElseThrow();
        assertThat(run(command, RecordedMachine.parse(parts[1]))).isEqualTo(parts[0] + "\n");
    }

    private static String run(String command, RecordedMachine machine) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new Agentctl(machine, new ProfileStore(FOLDER.resolve("no-profiles"), null))
                .commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        String text = command.substring("$ agentctl".length()).strip();
        int status = text.isEmpty() ? line.execute() : line.execute(text.split(" ", -1));
        return command + "\n= " + status + "\n" + marked("<", out) + marked("!", err);
    }

    private static String marked(String mark, StringWriter text) {
        StringBuilder marked = new StringBuilder();
        text.toString()
                .lines()
                .forEach(line ->
                        marked.append((mark + " " + line).stripTrailing()).append('\n'));
        return marked.toString();
    }
}
