package org.cloister.lab;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A release of Debian that a machine of the lab has as its file system; the kernel is the real machine's.
 *
 * @param suite its name in Debian's archive
 * @param root folder with the release's files, made by {@code lab/root}; none for the real machine's own release
 */
public record LabRelease(String suite, Optional<Path> root) {
    /** Release of the guest image, as in packaging/image/archive.sh: no slurmctld may be older than its slurmd. */
    public static final String GUEST_SUITE = "trixie";

    /** Has the name by which {@code lab/root} made the files: sid's own say the name of the next release. */
    private static final String MADE_AS = "etc/lab-release";

    private static final String OS_RELEASE = "etc/os-release";
    private static final String CODENAME = "VERSION_CODENAME=";

    /** Returns the real machine's release. */
    public static LabRelease own() throws IOException {
        return new LabRelease(suiteBelow(Path.of("/")), Optional.empty());
    }

    /** Returns a release whose files {@code lab/root} has made, or the machine's own. */
    public static LabRelease of(LabHome home, String suite) throws IOException {
        LabRelease own = own();
        if (own.suite.equals(suite)) {
            return own;
        }
        Path link = home.cache("roots").resolve(suite);
        if (!Files.isDirectory(link)) {
            throw new LabException("release " + suite + ": no file system at " + link, "run lab/root " + suite);
        }
        return new LabRelease(suite, Optional.of(link.toRealPath()));
    }

    /** Returns the release of which the files below a folder are. */
    static String suiteBelow(Path root) throws IOException {
        if (Files.exists(root.resolve(MADE_AS))) {
            return Files.readString(root.resolve(MADE_AS)).strip();
        }
        return Files.readAllLines(root.resolve(OS_RELEASE)).stream()
                .filter(line -> line.startsWith(CODENAME))
                .map(line -> line.substring(CODENAME.length()).replace("\"", ""))
                .findFirst()
                .orElseThrow(() -> new LabException(
                        root.resolve(OS_RELEASE) + ": no line " + CODENAME, "the lab's machines run Debian"));
    }

    /** Returns the folders of the real machine that its machines see, too: the code and what it needs. */
    static List<Path> sharedFolders(LabHome home) {
        Path checkout = checkout();
        List<Path> shared = new ArrayList<>(List.of(home.root(), checkout));
        Arrays.stream(System.getProperty("java.class.path").split(":", -1))
                .map(entry -> Path.of(entry).toAbsolutePath())
                .filter(entry -> !entry.startsWith(checkout))
                .reduce(LabRelease::commonFolder)
                .ifPresent(shared::add);
        return shared;
    }

    /** Returns the folder above {@code lab/target/classes}, which this class is read from. */
    private static Path checkout() {
        try {
            URI classes = LabRelease.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI();
            return Path.of(classes.resolve("../../..")).toAbsolutePath().normalize();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path commonFolder(Path one, Path other) {
        Path folder = one;
        while (!other.startsWith(folder)) {
            folder = Objects.requireNonNull(folder.getParent(), "every path starts with the root");
        }
        return folder;
    }

    @Override
    public String toString() {
        return suite;
    }
}
