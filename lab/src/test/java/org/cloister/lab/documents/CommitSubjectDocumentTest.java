package org.cloister.lab.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verifies the subjects of commits, so that a list of them reads as what was done, as CONTRIBUTING.md demands. */
class CommitSubjectDocumentTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root", ".."));
    /** Commits after this one are checked: the rule is younger than those before. */
    private static final String SINCE = "0902ccddb67586de3951ec628b08b80a636ee526";

    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void commits_have_an_area_and_a_short_imperative_summary() throws IOException {
        if (run(ROOT, "rev-parse", "--git-dir").exit() != 0) {
            abort("there is no git history in " + ROOT);
        }
        boolean isShallow =
                run(ROOT, "rev-parse", "--is-shallow-repository").out().strip().equals("true");
        if (isShallow && run(ROOT, "cat-file", "-e", SINCE + "^{commit}").exit() != 0) {
            abort("the git history in " + ROOT + " is shallow and does not reach " + SINCE);
        }
        List<String> wrong = complaints(ROOT, SINCE + "..HEAD");
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
    }

    @Test
    void a_commit_with_another_subject_is_named(@TempDir Path folder) throws IOException {
        git(folder, "init", "-q");
        for (String subject : List.of("build: add a rule", "Fixed stuff", "relay: bound unanswered messages")) {
            git(
                    folder,
                    "-c",
                    "user.name=ann",
                    "-c",
                    "user.email=ann@example.org",
                    "commit",
                    "-q",
                    "--allow-empty",
                    "-m",
                    subject);
        }
        assertThat(complaints(folder, "HEAD"))
                .singleElement()
                .asString()
                .endsWith(" Fixed stuff: want \"area: imperative summary\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "relay: bound unanswered ticket messages                                       | true",
                "agent-vm, agentctl: end what is left of broken sessions                       | true",
                "build: pass the root to checkstyle                                            | true",
                "audit-log: feed the writer from one queue                                     | true",
                "relay: bounded unanswered ticket messages                                     | false",
                "relay: bounds unanswered ticket messages                                      | false",
                "relay: bounding unanswered ticket messages                                    | false",
                "relay: the messages are bounded                                               | false",
                "relay: Bound unanswered ticket messages                                       | false",
                "Relay: bound unanswered ticket messages                                       | false",
                "bound unanswered ticket messages                                              | false",
                "relay: bound the ticket messages that nobody has answered within some minutes | false"
            })
    void a_subject_is_judged_by_form_and_length(String subject, boolean isRight) {
        assertThat(CommitSubjects.complaint(subject).isEmpty()).isEqualTo(isRight);
    }

    private static List<String> complaints(Path folder, String range) throws IOException {
        List<String> wrong = new ArrayList<>();
        git(folder, "log", "--no-merges", "--format=%h %s", range)
                .lines()
                .forEach(line -> CommitSubjects.complaint(line.substring(line.indexOf(' ') + 1))
                        .ifPresent(why -> wrong.add(line + ": " + why)));
        return wrong;
    }

    private static String git(Path folder, String... arguments) throws IOException {
        ProcessRunner.Output output = run(folder, arguments);
        assertThat(output.exit())
                .as(String.join(" ", arguments) + ": " + output.err())
                .isZero();
        return output.out();
    }

    /** Runs git; root reads a history that another user owns. */
    private static ProcessRunner.Output run(Path folder, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("git", "-c", "safe.directory=*", "-C", folder.toString()));
        command.addAll(Arrays.asList(arguments));
        return ProcessRunner.local().run("", command, LIMIT);
    }
}
