package org.cloister.vm.controller.unlock;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.daemon.InvalidConfigException;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.vm.controller.config.ProjectSettings;
import org.cloister.vm.system.users.ProjectMembers;

/** The files of an unlock, parsed completely: a file that it lacks stays as the drive has it. */
public record OpeningFiles(
        Optional<OpeningFiles.ParsedFile<ProjectMembers>> members,
        Optional<OpeningFiles.ParsedFile<ProjectSettings>> settings) {
    /** A file and its parsed content. */
    public record ParsedFile<T>(ByteString file, T content) {}

    private interface Reading<T> {
        T read(Path name, byte[] content) throws IOException;
    }

    static OpeningFiles of(ProjectUnlock unlock) throws UnlockRefused {
        OpeningFiles files = new OpeningFiles(
                read("members.toml", unlock.members(), ProjectMembers::read, UnlockRefusal.MEMBERS),
                read("controller.toml", unlock.settings(), ProjectSettings::read, UnlockRefusal.SETTINGS));
        if (unlock.create() && files.settings.isEmpty()) {
            throw new UnlockRefused(
                    UnlockRefusal.NO_SETTINGS,
                    "settings: want those of a new drive, have none; open it with --settings");
        }
        return files;
    }

    private static <T> Optional<ParsedFile<T>> read(
            String name, Optional<ByteString> file, Reading<T> parser, UnlockRefusal refusal) throws UnlockRefused {
        if (file.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new ParsedFile<>(
                    file.get(), parser.read(Path.of(name), file.get().toByteArray())));
        } catch (InvalidConfigException e) {
            throw new UnlockRefused(refusal, e);
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.CONTROLLER, e);
        }
    }
}
