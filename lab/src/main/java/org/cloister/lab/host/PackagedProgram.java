package org.cloister.lab.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;

/** A program as its package installs it: launcher, options, jars and class archive; only the location differs. */
public record PackagedProgram(Path launcher) {
    private static final Duration ARCHIVE = Duration.ofMinutes(3);

    /**
     * @param stage the package's contents, below {@code packaging/target}
     * @param launcher in it
     * @param archive in it, the script that makes the class archive; it is run
     * @param folder for both scripts and the archive
     */
    public static PackagedProgram of(String stage, String launcher, String archive, Path folder) throws IOException {
        Path root = Path.of("packaging", "target", stage).toAbsolutePath();
        if (!Files.exists(root.resolve(launcher))) {
            throw new LabException(root.resolve(launcher) + ": no such file", "run lab/setup");
        }
        PackagedProgram packaged = new PackagedProgram(moved(root, launcher, folder));
        LabCommand.of(moved(root, archive, folder).toString()).within(ARCHIVE).succeed();
        return packaged;
    }

    private static Path moved(Path root, String script, Path folder) throws IOException {
        String text = Files.readString(root.resolve(script))
                .replace("/usr/share/cloister/", root + "/usr/share/cloister/")
                .replace("/usr/lib/cloister/", root + "/usr/lib/cloister/")
                .replace("/var/cache/cloister/", folder + "/");
        Path moved = folder.resolve(Path.of(script).getFileName());
        Files.writeString(moved, text);
        Files.setPosixFilePermissions(moved, PosixFilePermissions.fromString("rwxr-xr-x"));
        return moved;
    }
}
