package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.preflight.machine.RecordedMachine;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Commands in the documents: lines that begin with agentctl. */
class DocumentedCommandsTest {
    private static final Path DOCS = Path.of("../docs");
    private static final Pattern COMMAND = Pattern.compile("(?: *|\\$ )agentctl .*");

    @Test
    void have_the_words_that_agentctl_knows() throws IOException {
        List<String> wrong = new ArrayList<>();
        CommandLine line =
                new Agentctl(RecordedMachine.parse("program none\n"), new ProfileStore(DOCS, null)).commandLine();
        int commands = 0;
        for (Path page : pages()) {
            for (String command : commands(page)) {
                commands++;
                try {
                    line.parseArgs(words(command));
                } catch (ParameterException e) {
                    wrong.add(page.getFileName() + ": " + command + ": " + e.getMessage());
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(commands).isGreaterThan(20);
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.list(DOCS)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static List<String> commands(Path page) throws IOException {
        return Files.readString(page)
                .replaceAll("\\\\\n\\s*", "")
                .lines()
                .filter(line -> COMMAND.matcher(line).matches())
                .toList();
    }

    /** Without the command's own name, and without what is the shell's: a comment, what goes into or out of it. */
    private static String[] words(String command) {
        return Arrays.stream(command.replaceFirst(".*?agentctl +", "")
                        .replaceFirst(" +(#|\\||[0-9]?[<>]).*", "")
                        .split(" +", -1))
                .toArray(String[]::new);
    }
}
