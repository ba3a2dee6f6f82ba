package org.cloister.lab.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Holds names in the sources against docs/glossary.md. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GlossaryDocumentTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root", ".."));
    private static final Set<String> NO_SUBJECT = Set.of("Util", "Common", "Misc", "Support", "Helper");
    private static final int DEPTH = 3;

    private Glossary glossary = new Glossary(List.of(), Map.of(), Map.of(), Map.of(), Map.of(), Map.of());
    private final Map<String, SourceNames> modules = new TreeMap<>();

    @BeforeAll
    void read() throws IOException {
        glossary = Glossary.read(ROOT.resolve("docs/glossary.md"));
        for (String module : BuildModules.of(ROOT)) {
            modules.put(module, SourceNames.in(ROOT.resolve(module)));
        }
    }

    @Test
    void no_type_has_a_retired_word() {
        List<String> wrong = new ArrayList<>();
        modules.forEach((module, names) -> {
            names.topLevel()
                    .forEach(name -> glossary.complaint(simple(name))
                            .ifPresent(why -> wrong.add(module + ": " + name + ": " + why)));
            names.types().stream()
                    .filter(name -> !names.topLevel().contains(name))
                    .forEach(name -> glossary.complaint("Nested" + simple(name))
                            .ifPresent(why -> wrong.add(module + ": " + name + ": " + why)));
        });
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
    }

    @Test
    void no_package_has_a_retired_word() {
        List<String> wrong = new ArrayList<>();
        for (String name : packages()) {
            String[] segments = name.replaceFirst("^org\\.cloister\\.?", "").split("\\.", -1);
            if (segments.length > DEPTH) {
                wrong.add(name + " is more than " + DEPTH + " packages below org.cloister");
            }
            for (String segment : segments) {
                String word = Glossary.split(segment).get(0);
                if (NO_SUBJECT.contains(word)) {
                    wrong.add(name + ": name the package by its subject");
                }
                glossary.complaint("Nested" + word).ifPresent(why -> wrong.add(name + ": " + why));
            }
        }
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
    }

    @Test
    void no_method_begins_with_a_retired_word() {
        List<String> wrong = new ArrayList<>();
        modules.forEach((module, names) -> names.methods()
                .forEach(name -> glossary.complaintOfMethod(name.substring(name.indexOf('#') + 1))
                        .ifPresent(why -> wrong.add(module + ": " + name + ": " + why))));
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
    }

    @Test
    void no_field_parameter_or_local_variable_has_a_retired_word() {
        List<String> wrong = new ArrayList<>();
        modules.forEach((module, names) -> names.values()
                .forEach(name -> glossary.complaintOfValue(name.substring(name.indexOf('#') + 1))
                        .ifPresent(why -> wrong.add(module + ": " + name + ": " + why))));
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
    }

    @Test
    void each_top_level_name_is_there_once() {
        Map<String, List<String>> by = duplicates(modules.values());
        assertThat(by.keySet())
                .as("names that stand twice, as docs/glossary.md lists them: " + by)
                .containsExactlyInAnyOrderElementsOf(glossary.twice().keySet());
    }

    @Test
    void each_package_has_a_row_and_each_row_a_package() {
        Set<String> there = packages();
        Set<String> rows = glossary.packages().keySet();
        Set<String> missing = new TreeSet<>(there);
        missing.removeAll(rows);
        Set<String> idle = new TreeSet<>(rows);
        idle.removeAll(there);
        assertThat(missing).as("packages without a row in docs/glossary.md").isEmpty();
        assertThat(idle).as("rows of docs/glossary.md without a package").isEmpty();
    }

    @Test
    void terms_are_sorted_sentences_with_a_source() {
        List<String> names = glossary.terms().stream().map(row -> row.get(0)).toList();
        assertThat(names).isSortedAccordingTo(String.CASE_INSENSITIVE_ORDER).doesNotHaveDuplicates();
        assertThat(glossary.terms()).allSatisfy(row -> {
            assertThat(row).hasSize(3);
            assertThat(row.get(1)).matches("[A-Z].*\\.").hasSizeLessThanOrEqualTo(200);
            assertThat(row.get(2)).isNotEmpty();
        });
    }

    @Test
    void no_replacement_is_retired() {
        List<String> wrong = new ArrayList<>();
        Pattern code = Pattern.compile("`([^`]+)`");
        glossary.retired()
                .forEach((word, use) -> code.matcher(use)
                        .results()
                        .map((MatchResult match) -> match.group(1))
                        .forEach(name -> glossary.complaint("Nested" + String.join("", Glossary.split(name)))
                                .ifPresent(why -> wrong.add(word + ": " + name + ": " + why))));
        assertThat(wrong).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "TicketOffice, true",
        "OfficeMessage, true",
        "Officer, false",
        "RoundRobin, true",
        "Background, false",
        "HTTPDesk, true",
        "Job, true",
        "SlurmJob, false"
    })
    void a_type_is_judged_by_whole_words(String name, boolean retired) {
        assertThat(glossary.complaint(name).isPresent()).isEqualTo(retired);
    }

    @ParameterizedTest
    @CsvSource({"sayHello, true", "saying, false", "takeBack, true", "takeover, false", "lookUp, true", "lookup, false"
    })
    void a_method_is_judged_by_its_first_word(String name, boolean retired) {
        Optional<String> complaint = glossary.complaintOfMethod(name);
        assertThat(complaint.isPresent()).isEqualTo(retired);
    }

    @ParameterizedTest
    @CsvSource({
        "beliefs, true",
        "newBeliefs, true",
        "OPEN_DESK, true",
        "background, false",
        "words, false",
        "DESK, false",
        "key, false"
    })
    void a_value_is_judged_by_whole_words(String name, boolean isRetired) {
        assertThat(glossary.complaintOfValue(name).isPresent()).isEqualTo(isRetired);
    }

    @Test
    void names_of_a_sample_are_found(@TempDir Path folder) throws IOException {
        for (String module : List.of("one", "other")) {
            Path sources = Files.createDirectories(folder.resolve(module).resolve("src/main/java"));
            Files.writeString(sources.resolve("Sample.java"), """
                    package %s;

                    class Sample {
                        private int desk;

                        Runnable run(int told) {
                            return new Runnable() {
                                @Override
                                public void run() {
                                    int said = told;
                                }
                            };
                        }
                    }
                    """.formatted(module));
        }
        SourceNames one = SourceNames.in(folder.resolve("one"));
        SourceNames other = SourceNames.in(folder.resolve("other"));
        assertThat(one.values()).containsExactly("one.Sample#desk", "one.Sample#said", "one.Sample#told");
        assertThat(duplicates(List.of(one, other)))
                .containsExactly(Map.entry("Sample", List.of("one.Sample", "other.Sample")));
    }

    /** Simple names that more than one top-level type has. */
    private static Map<String, List<String>> duplicates(Collection<SourceNames> modules) {
        Map<String, List<String>> by = new TreeMap<>();
        modules.forEach(names -> names.topLevel().stream()
                .filter(name -> !name.endsWith("package-info"))
                .forEach(name -> by.computeIfAbsent(simple(name), each -> new ArrayList<>())
                        .add(name)));
        by.values().removeIf(full -> full.size() < 2);
        return by;
    }

    private Set<String> packages() {
        Set<String> all = new TreeSet<>();
        modules.values().forEach(names -> all.addAll(names.packages()));
        return all;
    }

    private static String simple(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
