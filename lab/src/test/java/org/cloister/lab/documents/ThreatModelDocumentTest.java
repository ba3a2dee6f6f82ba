package org.cloister.lab.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies that each test which the threat model or another document cites exists, in the module that is named beside it. */
class ThreatModelDocumentTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root", ".."));

    @Test
    void each_claim_cites_tests_that_exist_in_the_module_that_is_named() throws IOException {
        TestCitations citations = TestCitations.of(ROOT);
        List<String> wrong = new ArrayList<>();
        try (Stream<Path> pages = Files.list(ROOT.resolve("docs"))) {
            for (Path page : pages.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                for (String each : citations.complaints(Files.readString(page))) {
                    wrong.add(page.getFileName() + ": " + each);
                }
            }
        }
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
        assertThat(TestCitations.count(Files.readString(ROOT.resolve("docs/threat-model.md"))))
                .as("citations of the threat model")
                .isGreaterThan(300);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "`NoSuchTest`                                                  | there is no test class \"NoSuchTest\"",
                "`BoundsDocumentTest#no_such_method`                           | BoundsDocumentTest has no such test",
                "`BoundsDocumentTest`, `#no_such_*`                            | BoundsDocumentTest has no such test",
                "`#rows_are_sorted_and_each_is_there_once`                     | there is no test class \"\"",
                "`BoundsDocumentTest` of `protocol`                            | it is of lab",
                "`BoundsDocumentTest`, `ReceiptTamperTest#an_*` of `protocol`  | it is of lab",
                "`BoundsDocumentTest` and `ReceiptTamperTest`, both of the lab | it is of protocol"
            })
    void a_citation_that_is_wrong_is_named(String sentence, String complaint) throws IOException {
        assertThat(TestCitations.of(ROOT).complaints(sentence + "; and more"))
                .singleElement()
                .asString()
                .endsWith(complaint);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "`BoundsDocumentTest#rows_are_*`, `#no_row_is_one_that_the_test_does_not_read` of `lab`",
                "`ReceiptTamperTest` of `protocol`, `BoundsDocumentTest` of the lab",
                "`BoundsDocumentTest`; in offline work `ReceiptTamperTest` of\n`protocol`"
            })
    void a_citation_that_is_right_is_not(String sentence) throws IOException {
        assertThat(TestCitations.of(ROOT).complaints(sentence)).isEmpty();
    }
}
