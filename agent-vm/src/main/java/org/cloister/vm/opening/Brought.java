package org.cloister.vm.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.daemon.BadConfigException;
import org.cloister.protocol.handover.Unlock;
import org.cloister.vm.ProjectSettings;
import org.cloister.vm.users.Members;

/** The files that an opening brings, read whole: what it does not bring stays as the drive has it. */
public record Brought(Optional<Brought.Of<Members>> members, Optional<Brought.Of<ProjectSettings>> settings) {
    /** One of them, and what it says. */
    public record Of<T>(ByteString file, T content) {}

    private interface Reading<T> {
        T read(Path name, byte[] content) throws IOException;
    }

    static Brought of(Unlock unlock) throws UnlockRefused {
        Brought brought = new Brought(
                read("members.toml", unlock.members(), Members::read, Refusal.MEMBERS),
                read("controller.toml", unlock.settings(), ProjectSettings::read, Refusal.SETTINGS));
        if (unlock.create() && brought.settings.isEmpty()) {
            throw new UnlockRefused(
                    Refusal.NO_SETTINGS, "settings: want those of a new drive, have none; open it with --settings");
        }
        return brought;
    }

    private static <T> Optional<Of<T>> read(String name, Optional<ByteString> file, Reading<T> reading, Refusal why)
            throws UnlockRefused {
        if (file.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new Of<>(file.get(), reading.read(Path.of(name), file.get().toByteArray())));
        } catch (BadConfigException e) {
            throw new UnlockRefused(why, e);
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.CONTROLLER, e);
        }
    }
}
