package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A change against the design's arrows fails the build, and says which rule it broke. */
@Tag("scenario")
@Tag("ground")
@RotatedScenario(11)
class BuildRulesTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root"));

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path tree;

    @BeforeEach
    void copyTheTree() throws IOException {
        // Without protocol and what needs it: its generator resolves base, which this phase does not compile.
        List<String> modules = List.of("base", "ovs-bridge", "strongswan-conf", "daemon", "slurm-commands");
        for (String part : List.of("pom.xml", ".mvn", "build")) {
            copy(part);
        }
        for (String module : modules) {
            copy(module);
        }
        edit("pom.xml", "<module>(?!(" + String.join("|", modules) + ")<)[^<]*</module>", "");
    }

    @Test
    void takes_the_tree_as_it_is() throws IOException {
        LabCommand.Output build = build();
        assertThat(build.exit()).as(build.out()).isZero();
    }

    @Test
    void refuses_a_dependency_that_is_no_arrow() throws IOException {
        edit("ovs-bridge/pom.xml", "<dependencies>", """
                <dependencies>
                    <dependency>
                      <groupId>org.cloister</groupId>
                      <artifactId>strongswan-conf</artifactId>
                    </dependency>
                """);
        LabCommand.Output build = build();
        assertThat(build.exit()).isNotZero();
        assertThat(build.out()).contains("this arrow is not in docs/design.md");
    }

    @Test
    void refuses_an_import_that_is_no_arrow() throws IOException {
        edit(
                "base/src/main/java/org/cloister/base/encoding/Digest.java",
                "import java.util.HexFormat;",
                "import java.util.HexFormat;\nimport picocli.CommandLine;");
        LabCommand.Output build = build();
        assertThat(build.exit()).isNotZero();
        assertThat(build.out()).contains("Digest.java").contains("Disallowed import - picocli.CommandLine");
    }

    @Test
    void refuses_code_that_the_formatter_would_change() throws IOException {
        edit(
                "base/src/main/java/org/cloister/base/encoding/Digest.java",
                "import java.util.HexFormat;",
                "import   java.util.HexFormat;");
        LabCommand.Output build = build();
        assertThat(build.exit()).isNotZero();
        assertThat(build.out()).contains("spotless:apply");
    }

    @Test
    void refuses_a_main_line_of_more_than_120_columns() throws IOException {
        edit(
                "base/src/main/java/org/cloister/base/encoding/Digest.java",
                "import java.util.HexFormat;",
                "import java.util.HexFormat;\n// " + "x".repeat(118));
        LabCommand.Output build = build();
        assertThat(build.exit()).isNotZero();
        assertThat(build.out()).contains("Digest.java").contains("Line is longer than 120 characters (found 121)");
    }

    private LabCommand.Output build() throws IOException {
        return LabCommand.of("mvn", "-B", "-o", "-f", tree.resolve("pom.xml").toString(), "process-sources")
                .within(Duration.ofMinutes(3))
                .run();
    }

    private void edit(String file, String pattern, String replacement) throws IOException {
        String before = Files.readString(tree.resolve(file));
        String after = before.replaceAll(pattern, replacement);
        assertThat(after).as("edit of %s", file).isNotEqualTo(before);
        Files.writeString(tree.resolve(file), after);
    }

    private void copy(String part) throws IOException {
        Files.walkFileTree(ROOT.resolve(part), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                if (folder.endsWith("target")) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(tree.resolve(ROOT.relativize(folder)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, tree.resolve(ROOT.relativize(file)));
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
