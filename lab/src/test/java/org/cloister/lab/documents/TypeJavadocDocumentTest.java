package org.cloister.lab.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Verifies that the Javadoc of each type opens with a verb or a noun phrase: a reader who meets the name first learns
 * what it is, as docs/glossary.md demands.
 */
class TypeJavadocDocumentTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root", ".."));

    @Test
    void no_type_opens_with_a_preposition_or_conjunction() throws IOException {
        List<String> wrong = new ArrayList<>();
        int types = 0;
        for (String module : BuildModules.of(ROOT)) {
            for (String set : List.of("main", "test")) {
                Path sources = ROOT.resolve(module).resolve("src").resolve(set).resolve("java");
                if (Files.isDirectory(sources)) {
                    TypeJavadocs javadocs = TypeJavadocs.below(sources);
                    types += javadocs.texts().size();
                    wrong.addAll(complaints(javadocs));
                }
            }
        }
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
        assertThat(types).isGreaterThan(1000);
    }

    @Test
    void a_type_that_does_is_named(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("Sample.java"), """
                package sample;

                /** Of a relay: what it has. */
                class Sample {
                    /** Verifies evidence. */
                    interface Verifier {}

                    /** Whatever bytes come. */
                    record Bytes() {}
                }
                """);
        assertThat(complaints(TypeJavadocs.below(folder)))
                .containsExactly(
                        "sample.Sample: Of a relay: what it has.", "sample.Sample.Bytes: Whatever bytes come.");
    }

    @ParameterizedTest
    @CsvSource({
        "What one look at Slurm saw., true",
        "By name., true",
        "Snapshot of Slurm's jobs., false",
        "Verifies evidence., false",
        "{@code agentctl site}: runs a CA., false",
        "Format of receipts., false",
        "Organisation of a site., false"
    })
    void an_opening_is_judged_by_its_first_word(String text, boolean isRefused) {
        assertThat(TypeJavadocs.opensWithoutSubject(text)).isEqualTo(isRefused);
    }

    private static List<String> complaints(TypeJavadocs javadocs) {
        return javadocs.texts().entrySet().stream()
                .filter(each -> TypeJavadocs.opensWithoutSubject(each.getValue()))
                .map(each -> each.getKey() + ": "
                        + each.getValue().lines().findFirst().orElse(""))
                .toList();
    }
}
