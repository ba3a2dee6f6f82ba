package org.cloister.lab.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Holds docs/bounds.md against the sources: each field that can grow has a row with its bound, and no row is about nothing. */
class BoundsDocumentTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root", ".."));
    private static final List<String> MODULES = List.of(
            "agent-host",
            "agent-relay",
            "agent-vm",
            "agentctl",
            "audit-log",
            "base",
            "daemon",
            "luks-keyops",
            "ovs-bridge",
            "protocol",
            "slurm-commands",
            "strongswan-conf",
            "transport");
    private static final Pattern ROW =
            Pattern.compile("^\\| `(\\w+#\\w+)` \\| ([^|]+) \\| ([^|]+) \\|$", Pattern.MULTILINE);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** Fields by module, as the page's headings and rows have them. */
    private static Map<String, List<String>> listed(String page) {
        Map<String, List<String>> listed = new TreeMap<>();
        for (String module : MODULES) {
            int from = page.indexOf("\n### " + module + "\n");
            assertThat(from).as("heading of " + module + " in docs/bounds.md").isNotNegative();
            int next = page.indexOf("\n#", from + 1);
            List<String> rows = new ArrayList<>();
            Matcher row = ROW.matcher(page.substring(from, next < 0 ? page.length() : next));
            while (row.find()) {
                rows.add(row.group(1));
            }
            listed.put(module, rows);
        }
        return listed;
    }

    private static String page() throws IOException {
        return Files.readString(ROOT.resolve("docs/bounds.md"));
    }

    @Test
    void every_field_that_can_grow_is_listed_with_its_bound_and_no_other() throws IOException {
        Map<String, List<String>> listed = listed(page());
        List<String> wrong = new ArrayList<>();
        for (String module : MODULES) {
            Set<String> there = GrowingFields.in(ROOT.resolve(module).resolve("src/main/java"));
            Set<String> rows = new TreeSet<>(listed.getOrDefault(module, List.of()));
            for (String each : there) {
                if (!rows.contains(each)) {
                    wrong.add(module + ": " + each + " can grow: give it a bound and a row in docs/bounds.md (| `"
                            + each + "` | bound | at the bound |), or assign an immutable copy (List.copyOf)");
                }
            }
            for (String each : rows) {
                if (!there.contains(each)) {
                    wrong.add(module + ": docs/bounds.md has " + each
                            + ", and there is no such field that can grow: take the row away");
                }
            }
        }
        assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
    }

    @Test
    void rows_are_sorted_and_each_is_there_once() throws IOException {
        listed(page())
                .forEach((module, rows) -> assertThat(rows)
                        .as(module)
                        .isSortedAccordingTo(String::compareTo)
                        .doesNotHaveDuplicates());
    }

    @Test
    void no_row_is_one_that_the_test_does_not_read() throws IOException {
        long rows = page().lines().filter(line -> line.matches("\\| `\\w+#.*")).count();
        assertThat(rows)
                .isEqualTo(
                        listed(page()).values().stream().mapToLong(List::size).sum());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            private final Map<String, String> it = new HashMap<>();                     | true
            private final java.util.Map<String, String> it = new java.util.HashMap<>(); | true
            private final Queue<Runnable> it = new LinkedBlockingQueue<>(8);            | true
            private List<String> it = List.of(); void add() { it = other(); }           | true
            private final List<String> it; A(List<String> its) { this.it = its; }       | true
            @SuppressWarnings("x") Set<String> it = ConcurrentHashMap.newKeySet();      | true
            private final ExecutorService it = Executors.newCachedThreadPool();         | true
            private final StringBuilder it = new StringBuilder();                       | true
            private @Nullable ByteBuf it;                                               | true
            class B { private final Deque<String> it = new ArrayDeque<>(); }            | true
            private final List<String> it; A(List<String> its) { it = List.copyOf(its); } | false
            private final Map<Level, String> it = new EnumMap<>(Level.class);           | false
            private final Set<Level> it = EnumSet.noneOf(Level.class);                  | false
            private List<String> it = List.of(); void set() { it = a.stream().toList(); } | false
            private final ExecutorService it; A(ExecutorService its) { it = its; }      | false
            private static final Map<String, String> IT = new HashMap<>();              | false
            private final String it = "Map";                                            | false
            @Option(names = "--it") private List<String> it = new ArrayList<>();        | false
            @picocli.CommandLine.Parameters(arity = "1..*") private List<String> it;    | false
            """)
    void a_field_that_can_grow_is_told_from_one_that_cannot(String member, boolean grows) throws IOException {
        Files.writeString(folder.resolve("A.java"), "class A { " + member + " }\n");
        Set<String> found = GrowingFields.in(folder);
        if (grows) {
            assertThat(found).hasSize(1).first().asString().endsWith("#it");
        } else {
            assertThat(found).isEmpty();
        }
    }

    @Test
    void components_of_records_are_not_fields_of_a_class() throws IOException {
        Files.writeString(folder.resolve("A.java"), "record A(java.util.List<String> all) {}\n");
        assertThat(GrowingFields.in(folder)).isEmpty();
    }
}
