package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
@Tag("packages")
@Tag("scenario")
class ReproducibleBuildTest {
    private static final String RESULTS =
            "(base|protocol|transport|audit-log|ovs-bridge|agent-host|agent-relay|agent-vm|agentctl|luks-keyops|packaging)/target/[^/]+\\.(jar|deb|rpm)"
                    + "|(protocol|ovs-bridge|agent-host|agent-relay|agent-vm|agentctl)/target/sbom\\.json|agentctl/target/(man|completion)/.*";

    @TempDir
    Path folder = Path.of("");

    /** All is built anew, which takes minutes: in one of the turns that {@code lab/test} has. */
    @Test
    @DisabledIfSystemProperty(named = "cloister.turn", matches = "[0-9]|12", disabledReason = "not its turn")
    void a_clean_build_in_another_folder_gives_the_same_bytes_as_the_one_here()
            throws IOException, InterruptedException, NoSuchAlgorithmException {
        Map<String, String> first = sums(BuiltPackages.ROOT);
        Map<String, String> second = build("a longer folder");
        first.forEach((name, sum) -> System.out.println("sha256 " + sum + " " + name));
        assertThat(first.keySet())
                .filteredOn(name ->
                        name.matches(".*cloister-(agentctl|agent-host|agent-relay|agent-vm)[-_][^/]*\\.(deb|rpm)"))
                .hasSize(8);
        assertThat(second)
                .as("after mvn clean: what an earlier build left here is no part of a clean one")
                .isEqualTo(first);
    }

    private Map<String, String> build(String name) throws IOException, InterruptedException, NoSuchAlgorithmException {
        Path copy = folder.resolve(name);
        copySources(copy);
        // Online: the SBOM plugin skips its work otherwise. All it needs is in the local repository by now.
        PackagingCommand.of(
                        "mvn",
                        "--batch-mode",
                        "--quiet",
                        "-DskipTests",
                        "--projects",
                        "packaging",
                        "--also-make",
                        "package")
                .in(copy)
                .within(Duration.ofMinutes(15))
                .text();
        return sums(copy);
    }

    private static Map<String, String> sums(Path root) throws IOException, NoSuchAlgorithmException {
        Map<String, String> sums = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String relative = root.relativize(file).toString();
                if (relative.matches(RESULTS)) {
                    byte[] sum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
                    sums.put(relative, HexFormat.of().formatHex(sum));
                }
            }
        }
        return sums;
    }

    private static void copySources(Path copy) throws IOException {
        Set<String> left = Set.of("target", ".git");
        Files.walkFileTree(BuiltPackages.ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                if (left.contains(String.valueOf(directory.getFileName()))) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(copy.resolve(BuiltPackages.ROOT.relativize(directory)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path target = copy.resolve(BuiltPackages.ROOT.relativize(file));
                if (attributes.isRegularFile() && !left.contains(String.valueOf(file.getFileName()))) {
                    Files.copy(file, target);
                    target.toFile().setExecutable(Files.isExecutable(file));
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
