package org.cloister.vm.opening;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.daemon.BadConfigException;
import org.cloister.protocol.handover.Unlock;
import org.cloister.protocol.identity.WholeFile;
import org.cloister.vm.ProjectSettings;
import org.cloister.vm.users.Members;
import org.cloister.vm.users.Uids;

/**
 * Who uses a project and how its queue is set, as its openers said it last, on its drive: the files as they came, and whose
 * each uid ever was.
 */
public final class ProjectFolder {
    private static final String MEMBERS = "members.toml";
    private static final String SETTINGS = "controller.toml";
    private static final String UIDS = "uids";
    /** As many lines as there are uids, with the longest logins. */
    private static final int MAX_UIDS = 4 << 20;

    private final Path folder;

    /** What a project works with. */
    public record Standing(Members members, ProjectSettings settings) {}

    /** @param folder is made when there is something to write */
    public ProjectFolder(Path folder) {
        this.folder = folder;
    }

    /** {@link Members}' file. */
    public Path members() {
        return folder.resolve(MEMBERS);
    }

    /**
     * Keeps what was brought in the place of what was there, and finds the rest. Each file is replaced at once; uids are
     * remembered before members have them.
     *
     * @throws UnlockRefused if there are no settings, or a uid was another's; nothing is changed then
     */
    public Standing take(Brought brought) throws IOException {
        Optional<ProjectSettings> settings = brought.settings().map(Brought.Of::content);
        if (settings.isEmpty()) {
            settings = kept(SETTINGS, Unlock.MAX_SETTINGS, ProjectSettings::read, Refusal.SETTINGS);
        }
        Optional<Members> members = brought.members().map(Brought.Of::content);
        if (members.isEmpty()) {
            members = kept(MEMBERS, Unlock.MAX_MEMBERS, Members::read, Refusal.MEMBERS);
        }
        Standing standing = new Standing(
                members.orElseGet(() -> new Members(List.of())),
                settings.orElseThrow(() -> new UnlockRefused(
                        Refusal.NO_SETTINGS, "settings: want some, have none on the drive; open it with --settings")));
        Uids seen = uids();
        Uids then = after(seen, standing.members());
        Files.createDirectories(folder);
        if (!then.equals(seen)) {
            WholeFile.replace(folder.resolve(UIDS), then.text().getBytes(StandardCharsets.US_ASCII));
        }
        if (brought.settings().isPresent()) {
            WholeFile.replace(
                    folder.resolve(SETTINGS), brought.settings().get().file().toByteArray());
        }
        if (brought.members().isPresent()) {
            WholeFile.replace(members(), brought.members().get().file().toByteArray());
        }
        return standing;
    }

    private static Uids after(Uids seen, Members members) throws UnlockRefused {
        List<String> problems = seen.problems(members);
        if (!problems.isEmpty()) {
            throw new UnlockRefused(Refusal.UIDS, "members: " + String.join("\n", problems));
        }
        return seen.with(members);
    }

    private Uids uids() throws IOException {
        Path file = folder.resolve(UIDS);
        Optional<byte[]> content = bytes(file, MAX_UIDS);
        return content.isEmpty() ? Uids.none() : Uids.parse(file, new String(content.get(), StandardCharsets.US_ASCII));
    }

    private interface Reading<T> {
        T read(Path name, byte[] content) throws IOException;
    }

    private <T> Optional<T> kept(String name, int most, Reading<T> reading, Refusal why) throws IOException {
        Optional<byte[]> content = bytes(folder.resolve(name), most);
        try {
            return content.isEmpty()
                    ? Optional.empty()
                    : Optional.of(reading.read(folder.resolve(name), content.get()));
        } catch (BadConfigException e) {
            throw new UnlockRefused(why, e);
        }
    }

    /** Empty if there is no such file; what cannot be read is not known. */
    private static Optional<byte[]> bytes(Path file, int most) throws IOException {
        try {
            return Optional.of(WholeFile.read(file, most));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }
}
