package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A root of Debian with a headless JRE and nothing of ours, unpacked for one test. It has the release that {@code lab/test
 * --release} names, or the machine's own. It is made once by mmdebstrap from the machine's own Debian archive and kept as a tar,
 * named by the digest of what it was made from.
 */
final class DebianRoot implements AutoCloseable {
    private static final String KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";
    private static final String CODENAME = "VERSION_CODENAME=";
    private static final String JRE = "default-jre-headless";
    /** The JRE lays links to its man pages and does not configure where their folder is missing. */
    private static final String HOOK = "mkdir -p \"$1/usr/share/man/man1\"";

    final Path path;

    private DebianRoot(Path path) {
        this.path = path;
    }

    /** @param more Debian packages that have to be there before ours */
    static DebianRoot unpack(String... more) throws IOException, InterruptedException {
        if (!PackagingCommand.of("id", "-u").text().strip().equals("0")) {
            throw new AssertionError("a clean root: made by root alone, not by " + System.getProperty("user.name")
                    + "; run lab/test as root");
        }
        Path lab =
                Path.of(Optional.ofNullable(System.getenv("CLOISTER_LAB_DIR")).orElse("/var/lib/cloister-lab"));
        String include = Stream.concat(Stream.of(JRE), Stream.of(more)).collect(Collectors.joining(","));
        Path tar = tar(Files.createDirectories(lab.resolve("cache")), include);
        Path root = Files.createTempDirectory(Files.createDirectories(lab.resolve("tmp")), "packages-");
        DebianRoot made = new DebianRoot(root);
        try {
            PackagingCommand.of("tar", "-C", root.toString(), "-xpf", tar.toString())
                    .text();
            return made;
        } catch (AssertionError | IOException | InterruptedException e) {
            made.close();
            throw e;
        }
    }

    private static Path tar(Path cache, String include) throws IOException, InterruptedException {
        PackagingCommand.require("mmdebstrap", "mmdebstrap");
        String suite = suite();
        List<String> sources = sources(suite);
        Path tar = cache.resolve("clean-root-" + digest(String.join("\n", sources) + suite + include + HOOK) + ".tar");
        if (!Files.exists(tar)) {
            Path half = Files.createTempFile(cache, "clean-root-", ".tar");
            List<String> words = new ArrayList<>(List.of(
                    "mmdebstrap",
                    "--quiet",
                    "--variant=minbase",
                    "--include=" + include,
                    "--essential-hook=" + HOOK,
                    // The list of sid is signed for a week, and a mirror may be older.
                    "--aptopt=Acquire::Check-Valid-Until \"false\"",
                    suite,
                    half.toString()));
            words.addAll(sources);
            try {
                new PackagingCommand(words, Map.of(), Path.of("/"), Duration.ofMinutes(10)).text();
                Files.move(half, tar, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(half);
            }
        }
        return tar;
    }

    /** The release of the root; the machine's own for a lab whose machines have several. */
    static String suite() throws IOException {
        String drawn = System.getProperty("cloister.release", "");
        return drawn.isEmpty() || drawn.contains("=") ? ownSuite() : drawn;
    }

    private static String ownSuite() throws IOException {
        return Files.readAllLines(Path.of("/etc/os-release")).stream()
                .filter(line -> line.startsWith(CODENAME))
                .map(line -> line.substring(CODENAME.length()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("/etc/os-release: no line " + CODENAME));
    }

    /** The machine's Debian sources, as lines of sources.list; for another release the archive of the machine's own. */
    private static List<String> sources(String suite) throws IOException, InterruptedException {
        boolean own = suite.equals(ownSuite());
        List<String> sources = PackagingCommand.of(
                        "apt-get",
                        "indextargets",
                        "--format",
                        "deb [signed-by=" + KEYS + "] $(REPO_URI) "
                                + (own ? "$(RELEASE) $(COMPONENT)" : suite + " main"),
                        "Created-By: Packages",
                        "Origin: Debian",
                        own ? "Origin: Debian" : "Codename: " + ownSuite())
                .lines()
                .stream()
                .distinct()
                .sorted()
                .toList();
        if (sources.isEmpty()) {
            throw new AssertionError("apt-get indextargets: no source with Origin: Debian; run apt-get update");
        }
        return sources;
    }

    /** A command in the root, with /proc there as on any booted system. */
    PackagingCommand.Result run(String... words) throws IOException, InterruptedException {
        return inside("mount -t proc proc \"$0/proc\" && exec chroot \"$0\" \"$@\"", words);
    }

    /** A command in the root as a careless chroot leaves it, without /proc. */
    PackagingCommand.Result runWithoutProc(String... words) throws IOException, InterruptedException {
        return inside("exec chroot \"$0\" \"$@\"", words);
    }

    /** A command of the machine's, which sees the root as {@code $ROOT} with /proc mounted. */
    PackagingCommand.Result runOutside(String script) throws IOException, InterruptedException {
        return inside("mount -t proc proc \"$0/proc\" && ROOT=$0 exec sh -euc \"$1\"", script);
    }

    private PackagingCommand.Result inside(String script, String... words) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("unshare", "--mount", "sh", "-euc", script, path.toString()));
        all.addAll(Arrays.asList(words));
        return new PackagingCommand(
                        all, Map.of("DEBIAN_FRONTEND", "noninteractive"), Path.of("/"), Duration.ofMinutes(5))
                .run();
    }

    String text(String... words) throws IOException, InterruptedException {
        PackagingCommand.Result result = run(words);
        assertThat(result.status())
                .as("exit status of %s in a clean root, which said:%n%s", List.of(words), result.text())
                .isZero();
        return result.text();
    }

    /** Puts a file of the machine's into the root's /tmp; returns its name there. */
    String copyIn(Path file) throws IOException {
        String name = "/tmp/" + file.getFileName();
        Files.copy(file, path.resolve(name.substring(1)), StandardCopyOption.REPLACE_EXISTING);
        return name;
    }

    boolean has(String file) {
        return Files.exists(path.resolve(file.substring(1)), LinkOption.NOFOLLOW_LINKS);
    }

    /** Name to kind and size of all that is in the root, but for what {@code ignored} regular expressions match whole. */
    Map<String, String> contents(List<String> ignored) throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.toList()) {
                String name = "/" + path.relativize(file);
                if (ignored.stream().noneMatch(name::matches)) {
                    found.put(name, describe(file));
                }
            }
        }
        return found;
    }

    /** What has come, gone or changed since {@code before}, one line each. */
    List<String> changesSince(Map<String, String> before, List<String> ignored) throws IOException {
        Map<String, String> now = contents(ignored);
        Set<String> names = new TreeSet<>(before.keySet());
        names.addAll(now.keySet());
        return names.stream()
                .filter(name -> !Objects.equals(before.get(name), now.get(name)))
                .map(name -> name + ": was " + before.getOrDefault(name, "absent") + ", is "
                        + now.getOrDefault(name, "absent"))
                .toList();
    }

    private static String describe(Path file) throws IOException {
        if (Files.isSymbolicLink(file)) {
            return "link to " + Files.readSymbolicLink(file);
        }
        return Files.isDirectory(file) ? "folder" : "file of " + Files.size(file) + " bytes";
    }

    static String digest(String text) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sum).substring(0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
