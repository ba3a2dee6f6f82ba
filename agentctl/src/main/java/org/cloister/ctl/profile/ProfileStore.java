package org.cloister.ctl.profile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.identity.ProjectDocument;
import org.jspecify.annotations.Nullable;

/**
 * Folder of a person's profiles, one in a folder of each project's id; the file {@code default} names the one that
 * applies where none is named.
 *
 * @param named id or label that the environment names; null for none
 */
public record ProfileStore(Path folder, @Nullable String named) {
    /** The environment variable that names a profile by its id or label. */
    public static final String VARIABLE = "CLOISTER_PROJECT";

    private static final String FILE = "profile.json";
    private static final String DEFAULT = "default";
    private static final int MAX_DEFAULT = 64;

    /** Returns the store of this process's user; XDG Base Directory Specification. */
    public static ProfileStore ofEnvironment() {
        String config = System.getenv("XDG_CONFIG_HOME");
        Path base = config != null && config.startsWith("/")
                ? Path.of(config)
                : Path.of(System.getProperty("user.home"), ".config");
        String named = System.getenv(VARIABLE);
        return new ProfileStore(base.resolve("cloister"), named == null || named.isEmpty() ? null : named);
    }

    /** Returns the file of a project's profile, which need not exist. */
    public Path file(String project) {
        return folder.resolve(project).resolve(FILE);
    }

    /** Returns all profiles, ordered by their labels. */
    public List<ProjectProfile> readAll() throws IOException {
        List<ProjectProfile> all = new ArrayList<>();
        for (String project : projects()) {
            find(project).ifPresent(all::add);
        }
        all.sort(Comparator.comparing(ProjectProfile::label).thenComparing(ProjectProfile::id));
        return all;
    }

    public Optional<ProjectProfile> find(String project) throws IOException {
        Path file = file(project);
        if (!AtomicFile.exists(file)) {
            return Optional.empty();
        }
        try {
            ProjectProfile profile = ProjectProfile.parse(AtomicFile.read(file, ProjectProfile.MAX_BYTES));
            if (!profile.id().equals(project)) {
                throw new MalformedException("want the profile of this folder's project, have that of " + profile.id());
            }
            return Optional.of(profile);
        } catch (MalformedException e) {
            throw new MalformedException(
                    file + ": " + e.getMessage() + "; delete it, and join again with agentctl project join", e);
        }
    }

    /**
     * Returns the profile of an id or a label.
     *
     * @param source the option or variable that names it
     */
    public ProjectProfile require(String source, String name) throws IOException {
        if (ProjectDocument.ID.matcher(name).matches()) {
            return find(name).orElseThrow(() -> unknown(source, name, List.of()));
        }
        List<ProjectProfile> all = readAll();
        return all.stream()
                .filter(each -> each.label().equals(name))
                .findFirst()
                .orElseThrow(() -> unknown(
                        source, name, all.stream().map(ProjectProfile::label).toList()));
    }

    private static IOException unknown(String source, String name, List<String> labels) {
        return new IOException(source + ": want the id or label of a joined project"
                + (labels.isEmpty() ? "" : ", " + String.join(" or ", labels)) + ", have " + name
                + "; agentctl project list shows all, agentctl project join adds one");
    }

    /**
     * Returns the profile that applies where no option names one: the environment's, the default, or the only one.
     *
     * @throws AmbiguousProfileException if there are several and no default
     */
    public Optional<ProjectProfile> select() throws IOException {
        if (named != null) {
            return Optional.of(require(VARIABLE, named));
        }
        Optional<String> usual = defaultProject();
        if (usual.isPresent()) {
            return find(usual.get());
        }
        List<String> all = projects();
        if (all.size() > 1) {
            throw new AmbiguousProfileException(
                    readAll().stream().map(ProjectProfile::label).toList());
        }
        return all.isEmpty() ? Optional.empty() : find(all.get(0));
    }

    /** Returns the id of the default project; empty if none was set, or it is not there. */
    public Optional<String> defaultProject() throws IOException {
        Path file = folder.resolve(DEFAULT);
        if (!AtomicFile.exists(file)) {
            return Optional.empty();
        }
        String id = new String(AtomicFile.read(file, MAX_DEFAULT), StandardCharsets.US_ASCII).strip();
        return ProjectDocument.ID.matcher(id).matches() && AtomicFile.exists(file(id))
                ? Optional.of(id)
                : Optional.empty();
    }

    public void setDefault(String project) throws IOException {
        AtomicFile.replace(folder.resolve(DEFAULT), (project + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** Creates or replaces a project's profile; it is on disk when this returns. */
    public void write(ProjectProfile profile) throws IOException {
        Path file = file(profile.id());
        Files.createDirectories(
                file.resolveSibling(""),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        AtomicFile.replace(file, profile.json());
    }

    private List<String> projects() throws IOException {
        if (!AtomicFile.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(each -> Files.exists(each.resolve(FILE)))
                    .map(each -> String.valueOf(each.getFileName()))
                    .filter(name -> ProjectDocument.ID.matcher(name).matches())
                    .sorted()
                    .toList();
        }
    }
}
