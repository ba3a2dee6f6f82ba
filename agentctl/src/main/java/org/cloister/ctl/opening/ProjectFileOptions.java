package org.cloister.ctl.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.handover.ProjectUnlock;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options that change the project's members and the settings of its queue: the VM reads the files, and its drive stores
 * them.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
final class ProjectFileOptions {
    /** Matches at the beginning of a line, where people and programs write it. */
    private static final Pattern MEMBER = Pattern.compile("^\\s*\\[\\[\\s*member\\s*]]", Pattern.MULTILINE);

    private static final Pattern SHAPE = Pattern.compile("^\\s*\\[\\[\\s*shape\\s*]]", Pattern.MULTILINE);
    private static final Pattern TABLE = Pattern.compile("^\\s*\\[", Pattern.MULTILINE);

    @Option(
            names = "--members",
            paramLabel = "FILE",
            description = "File of the project's members from now on: a table [[member]] for each. The "
                    + "drive stores a copy; default: the drive's copy; a new drive has no members.")
    private @Nullable Path members;

    @Option(
            names = "--settings",
            paramLabel = "FILE",
            description = "File of the project's queue settings from now on: tables [queue] and [[shape]]. "
                    + "The drive stores a copy; default: the drive's copy. A new drive needs this option.")
    private @Nullable Path settings;

    /**
     * Reads the members file.
     *
     * @throws IOException if it is already clear here that the VM would reject the file
     */
    Optional<ByteString> members() throws IOException {
        if (members == null) {
            return Optional.empty();
        }
        ByteString file = read(members, ProjectUnlock.MAX_MEMBERS);
        String text = file.toStringUtf8();
        if (TABLE.matcher(text).find() && !MEMBER.matcher(text).find()) {
            throw new IOException(members + ": want tables [[member]], or none, have others");
        }
        return Optional.of(file);
    }

    /**
     * Reads the settings file.
     *
     * @param isRequired whether the drive is new, and has no settings
     * @throws IOException if the settings of a new drive are missing, or it is already clear here that the VM would
     *     reject the file
     */
    Optional<ByteString> settings(boolean isRequired) throws IOException {
        if (settings == null) {
            if (isRequired) {
                throw new IOException("settings: a new drive needs them; name their file with --settings");
            }
            return Optional.empty();
        }
        ByteString file = read(settings, ProjectUnlock.MAX_SETTINGS);
        if (!SHAPE.matcher(file.toStringUtf8()).find()) {
            throw new IOException(settings + ": want at least one table [[shape]], have none");
        }
        return Optional.of(file);
    }

    private static ByteString read(Path file, int most) throws IOException {
        byte[] bytes = Pem.readBounded(file, most);
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
        } catch (CharacterCodingException e) {
            throw new IOException(file + ": want text in UTF-8, have other bytes", e);
        }
        return ByteString.copyFrom(bytes);
    }
}
