package org.cloister.lab.documents;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Compares tests that a page cites with a checkout's sources. A page cites a class ({@code `SomeTest`}), a method of it
 * ({@code `SomeTest#a_method`}), another one of the same class ({@code `#others_*`}), and behind a list of them a module ({@code of
 * `module`}).
 *
 * @param sources files of a test class by their modules, by the class's simple name
 */
record TestCitations(Map<String, Map<String, Path>> sources) {
    private static final Pattern CITATION = Pattern.compile("`(?=[A-Z#])([A-Z]\\w*(?:Test|Fuzz))?(?:#(\\w+\\*?))?`");
    private static final Pattern BETWEEN_MEMBERS = Pattern.compile(",? (?:and|or) |, ");
    private static final Pattern MODULE =
            Pattern.compile(",?(?: both| all)? \\(?(?:of|in) (?:`([a-z-]+)`|the (lab)\\b)");
    private static final Pattern METHOD = Pattern.compile("^ {4,8}void (\\w+)\\(", Pattern.MULTILINE);
    /** Within a sentence that goes on in the next line. */
    private static final Pattern LINE_END = Pattern.compile("(?<=[^\\n])\\n *(?=[A-Za-z(`*])");

    static TestCitations of(Path root) throws IOException {
        Map<String, Map<String, Path>> sources = new TreeMap<>();
        for (String module : BuildModules.of(root)) {
            Path tests = root.resolve(module).resolve("src/test/java");
            if (Files.isDirectory(tests)) {
                try (Stream<Path> all = Files.walk(tests)) {
                    all.filter(file -> file.toString().endsWith(".java"))
                            .forEach(file -> sources.computeIfAbsent(name(file), name -> new TreeMap<>())
                                    .put(module, file));
                }
            }
        }
        return new TestCitations(sources);
    }

    private static String name(Path file) {
        return file.getFileName().toString().replaceFirst("\\.java$", "");
    }

    static long count(String page) {
        return CITATION.matcher(page).results().count();
    }

    /** Returns what is wrong with a page's citations: no such class or method, or none in the module that is named. */
    List<String> complaints(String page) throws IOException {
        List<String> wrong = new ArrayList<>();
        for (String line : LINE_END.matcher(page).replaceAll(" ").lines().toList()) {
            String type = "";
            List<String> list = new ArrayList<>();
            int end = 0;
            for (MatchResult citation : CITATION.matcher(line).results().toList()) {
                if (!BETWEEN_MEMBERS
                        .matcher(line.substring(end, citation.start()))
                        .matches()) {
                    list.clear();
                }
                end = citation.end();
                if (citation.group(1) != null) {
                    type = citation.group(1);
                    list.add(type);
                }
                checkMember(citation, type, wrong);
                Matcher module = MODULE.matcher(line).region(end, line.length());
                if (module.lookingAt()) {
                    checkModule(list, module.group(1) == null ? module.group(2) : module.group(1), wrong);
                }
            }
        }
        return wrong;
    }

    private void checkMember(MatchResult citation, String type, List<String> wrong) throws IOException {
        Map<String, Path> files = sources.getOrDefault(type, Map.of());
        if (files.isEmpty()) {
            wrong.add(citation.group() + ": there is no test class \"" + type + "\"");
            return;
        }
        String method = citation.group(2);
        if (method == null) {
            return;
        }
        for (Path file : files.values()) {
            if (METHOD.matcher(Files.readString(file))
                    .results()
                    .anyMatch(each -> method.endsWith("*")
                            ? each.group(1).startsWith(method.substring(0, method.length() - 1))
                            : each.group(1).equals(method))) {
                return;
            }
        }
        wrong.add(citation.group() + ": " + type + " has no such test");
    }

    private void checkModule(List<String> types, String module, List<String> wrong) {
        for (String type : types) {
            Map<String, Path> files = sources.getOrDefault(type, Map.of());
            if (!files.isEmpty() && !files.containsKey(module)) {
                wrong.add("`" + type + "` of `" + module + "`: it is of " + String.join(", ", files.keySet()));
            }
        }
    }
}
