package org.cloister.vm.controller.unlock;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.base.file.AtomicFile;
import org.cloister.daemon.InvalidConfigException;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.vm.controller.config.ProjectSettings;
import org.cloister.vm.controller.members.UidHistory;
import org.cloister.vm.system.users.ProjectMembers;

/**
 * A project's members and queue settings, as its openers sent them last, on its drive: the files unchanged, and all
 * past owners of UIDs.
 */
public final class ProjectConfigStore {
    private static final String MEMBERS = "members.toml";
    private static final String SETTINGS = "controller.toml";
    private static final String UIDS = "uids";
    /** Limit of the file: one line per UID, with the longest logins. */
    private static final int MAX_UIDS = 4 << 20;

    private final Path folder;

    /** Configuration that a project uses. */
    public record ProjectConfig(ProjectMembers members, ProjectSettings settings) {}

    /** @param folder created when there is something to write */
    public ProjectConfigStore(Path folder) {
        this.folder = folder;
    }

    /** Returns the file of {@link ProjectMembers}. */
    public Path membersFile() {
        return folder.resolve(MEMBERS);
    }

    /**
     * Stores the files of an unlock in place of the earlier ones, and reads the others. Each file is replaced
     * atomically; UIDs are recorded before members have them.
     *
     * @throws UnlockRefused if there are no settings, or a UID was another person's; nothing is changed then
     */
    public ProjectConfig update(OpeningFiles files) throws IOException {
        Optional<ProjectSettings> settings = files.settings().map(OpeningFiles.ParsedFile::content);
        if (settings.isEmpty()) {
            settings = readStored(SETTINGS, ProjectUnlock.MAX_SETTINGS, ProjectSettings::read, UnlockRefusal.SETTINGS);
        }
        Optional<ProjectMembers> members = files.members().map(OpeningFiles.ParsedFile::content);
        if (members.isEmpty()) {
            members = readStored(MEMBERS, ProjectUnlock.MAX_MEMBERS, ProjectMembers::read, UnlockRefusal.MEMBERS);
        }
        ProjectConfig config = new ProjectConfig(
                members.orElseGet(() -> new ProjectMembers(List.of())),
                settings.orElseThrow(() -> new UnlockRefused(
                        UnlockRefusal.NO_SETTINGS,
                        "settings: want some, have none on the drive; open it with --settings")));
        UidHistory recorded = uids();
        UidHistory updated = updatedUids(recorded, config.members());
        Files.createDirectories(folder);
        if (!updated.equals(recorded)) {
            AtomicFile.replace(folder.resolve(UIDS), updated.text().getBytes(StandardCharsets.US_ASCII));
        }
        if (files.settings().isPresent()) {
            AtomicFile.replace(
                    folder.resolve(SETTINGS), files.settings().get().file().toByteArray());
        }
        if (files.members().isPresent()) {
            AtomicFile.replace(membersFile(), files.members().get().file().toByteArray());
        }
        return config;
    }

    private static UidHistory updatedUids(UidHistory recorded, ProjectMembers members) throws UnlockRefused {
        List<String> problems = recorded.problems(members);
        if (!problems.isEmpty()) {
            throw new UnlockRefused(UnlockRefusal.UIDS, "members: " + String.join("\n", problems));
        }
        return recorded.with(members);
    }

    private UidHistory uids() throws IOException {
        Path file = folder.resolve(UIDS);
        Optional<byte[]> content = bytes(file, MAX_UIDS);
        return content.isEmpty()
                ? UidHistory.none()
                : UidHistory.parse(file, new String(content.get(), StandardCharsets.US_ASCII));
    }

    private interface Reading<T> {
        T read(Path name, byte[] content) throws IOException;
    }

    private <T> Optional<T> readStored(String name, int maxBytes, Reading<T> parser, UnlockRefusal refusal)
            throws IOException {
        Optional<byte[]> content = bytes(folder.resolve(name), maxBytes);
        try {
            return content.isEmpty() ? Optional.empty() : Optional.of(parser.read(folder.resolve(name), content.get()));
        } catch (InvalidConfigException e) {
            throw new UnlockRefused(refusal, e);
        }
    }

    /** Returns a file's content; empty if the file does not exist. An unreadable file is an error. */
    private static Optional<byte[]> bytes(Path file, int maxBytes) throws IOException {
        try {
            return Optional.of(AtomicFile.read(file, maxBytes));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }
}
