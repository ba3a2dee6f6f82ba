package org.cloister.lab.documents;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tables of docs/glossary.md.
 *
 * @param terms rows of term, meaning, source
 * @param retired words that no type and no package has, with what to use; one that begins with {@code =} is no whole name
 * @param verbs first words that no method has, with what to use
 * @param values retired words, or whole names with one, that fields, parameters and local variables may have
 * @param packages what each package holds
 * @param twice top-level names that two modules have, with the reason
 */
record Glossary(
        List<List<String>> terms,
        Map<String, String> retired,
        Map<String, String> verbs,
        Map<String, String> values,
        Map<String, String> packages,
        Map<String, String> twice) {
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern WORD = Pattern.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+");

    static Glossary read(Path page) throws IOException {
        Map<String, List<List<String>>> tables = tables(Files.readAllLines(page));
        return new Glossary(
                rows(tables, "Terms"),
                words(rows(tables, "Retired words")),
                words(rows(tables, "Retired first words of methods")),
                words(rows(tables, "Retired words that values may have")),
                words(rows(tables, "Packages")),
                words(rows(tables, "Names that stand twice")));
    }

    private static List<List<String>> rows(Map<String, List<List<String>>> tables, String heading) {
        return Optional.ofNullable(tables.get(heading))
                .orElseThrow(() -> new AssertionError("docs/glossary.md has no table below \"## " + heading + "\""));
    }

    /** Rows of each heading's table, without its head. */
    private static Map<String, List<List<String>>> tables(List<String> lines) {
        Map<String, List<List<String>>> tables = new TreeMap<>();
        String heading = "";
        for (String line : lines) {
            if (line.startsWith("## ")) {
                heading = line.substring(3);
            } else if (line.startsWith("|")) {
                tables.computeIfAbsent(heading, each -> new ArrayList<>())
                        .add(Arrays.stream(
                                        line.substring(1, line.lastIndexOf('|')).split("\\|"))
                                .map(String::strip)
                                .toList());
            }
        }
        tables.replaceAll((each, rows) -> List.copyOf(rows.subList(2, rows.size())));
        return tables;
    }

    private static Map<String, String> words(List<List<String>> rows) {
        Map<String, String> words = new TreeMap<>();
        for (List<String> row : rows) {
            for (Matcher word = CODE.matcher(row.get(0)); word.find(); ) {
                words.put(word.group(1), row.get(1));
            }
        }
        return words;
    }

    /** {@code TicketOffice} has the words {@code Ticket} and {@code Office}, {@code ticketBook} those of {@code TicketBook}. */
    static List<String> split(String name) {
        return WORD.matcher(name).results().map(word -> capital(word.group())).toList();
    }

    private static String capital(String word) {
        return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
    }

    /** What is wrong with the name of a type, or with a segment of a package's. */
    Optional<String> complaint(String simpleName) {
        String bare = "=" + simpleName;
        if (retired.containsKey(bare)) {
            return Optional.of("the bare name " + simpleName + " is retired: use " + retired.get(bare));
        }
        return split(simpleName).stream()
                .filter(retired::containsKey)
                .findFirst()
                .map(word -> "the word " + word + " is retired: use " + retired.get(word));
    }

    /** The same for the name of a field, a parameter or a local variable, which may be a constant's. */
    Optional<String> complaintOfValue(String name) {
        if (values.containsKey(name)) {
            return Optional.empty();
        }
        boolean isConstant = name.equals(name.toUpperCase(Locale.ROOT));
        List<String> words = isConstant ? List.of(name.toLowerCase(Locale.ROOT).split("_", -1)) : split(name);
        return words.stream()
                .filter(word -> !word.isEmpty())
                .map(Glossary::capital)
                .filter(word -> retired.containsKey(word) && !values.containsKey(word))
                .findFirst()
                .map(word -> "the word " + word + " is retired: use " + retired.get(word));
    }

    /** The same for a method's name, of which the first word is judged. */
    Optional<String> complaintOfMethod(String method) {
        String first = method.replaceFirst("[^a-z].*", "");
        return Optional.ofNullable(verbs.get(first)).map(use -> "the verb " + first + " is retired: use " + use);
    }
}
