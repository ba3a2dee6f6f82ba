package org.cloister.ctl.systemd;

import java.io.IOException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Pattern;
import org.cloister.base.file.AtomicFile;

/**
 * Folder that a drop-in makes writable for a unit. Its path is absolute, has no symbolic link and has only characters
 * that mean themselves in units, in TOML and in lists of words.
 */
public record WritableFolder(Path path) {
    private static final Pattern FORM = Pattern.compile("(?:/[0-9A-Za-z_.+~@:-]+)+");

    public WritableFolder {
        if (!FORM.matcher(path.toString()).matches() || !path.equals(path.normalize())) {
            throw new IllegalArgumentException(
                    "folder: want an absolute path of letters, digits and _.+~@:/- without .., have \""
                            + path.toString().replaceAll("[^ -~]", "?") + "\"");
        }
    }

    /** Checks a path from the command line; the folder itself need not exist. */
    public static WritableFolder of(Path argument) throws IOException {
        Path path = argument.toAbsolutePath().normalize();
        WritableFolder folder;
        try {
            folder = new WritableFolder(path);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
        Path existing = path;
        while (!AtomicFile.exists(existing, LinkOption.NOFOLLOW_LINKS)) {
            existing = Objects.requireNonNull(existing.getParent());
        }
        // Fails for a link to nowhere, too.
        Path real = existing.toRealPath();
        if (!real.equals(existing)) {
            throw new IOException(path + ": want a path without symbolic links, have one to " + real + "; name that");
        }
        return folder;
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
