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
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
@Tag("packages")
@Tag("scenario")
class ReproducibleBuildTest {
    private static final String RESULTS =
            "(protocol|ovs-bridge|agent-relay|agentctl|packaging)/target/[^/]+\\.(jar|deb|rpm)"
                    + "|(protocol|ovs-bridge|agent-relay|agentctl)/target/sbom\\.json|agentctl/target/(man|completion)/.*";

    @TempDir
    Path folder = Path.of("");

    @Test
    void two_clean_builds_in_two_folders_give_the_same_bytes()
            throws IOException, InterruptedException, NoSuchAlgorithmException {
        Map<String, String> first = build("one");
        Map<String, String> second = build("a second, longer folder");
        first.forEach((name, sum) -> System.out.println("sha256 " + sum + " " + name));
        assertThat(first.keySet())
                .filteredOn(name -> name.matches(".*cloister-(agentctl|agent-relay)[-_][^/]*\\.(deb|rpm)"))
                .hasSize(4);
        assertThat(second).isEqualTo(first);
    }

    private Map<String, String> build(String name) throws IOException, InterruptedException, NoSuchAlgorithmException {
        Path copy = folder.resolve(name);
        copySources(copy);
        // Online: the SBOM plugin skips its work otherwise. All it needs is in the local repository by now.
        Command.of("mvn", "--batch-mode", "--quiet", "-DskipTests", "--projects", "packaging", "--also-make", "package")
                .in(copy)
                .text();
        Map<String, String> sums = new TreeMap<>();
        try (Stream<Path> files = Files.walk(copy)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String relative = copy.relativize(file).toString();
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
        Files.walkFileTree(Packages.ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                if (left.contains(String.valueOf(directory.getFileName()))) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(copy.resolve(Packages.ROOT.relativize(directory)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path target = copy.resolve(Packages.ROOT.relativize(file));
                if (attributes.isRegularFile() && !left.contains(String.valueOf(file.getFileName()))) {
                    Files.copy(file, target);
                    target.toFile().setExecutable(Files.isExecutable(file));
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
