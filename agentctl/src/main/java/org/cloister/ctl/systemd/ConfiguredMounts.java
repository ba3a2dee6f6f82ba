package org.cloister.ctl.systemd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.mount.MountedFileSystem;

/**
 * Mounts that this machine's administrator has configured, in fstab or as units, beside those that the kernel has. A
 * configured file system that is not mounted leaves an empty folder that looks like a new storage.
 *
 * @param units of the machine, in whose tree {@code etc/fstab} is
 * @param mounted all mounts of the kernel, in its order
 */
public record ConfiguredMounts(SystemdUnits units, List<MountedFileSystem> mounted) {
    private static final int MAX_FSTAB = 1 << 20;
    private static final String AUTOFS = "autofs";
    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");

    public ConfiguredMounts {
        mounted = List.copyOf(mounted);
    }

    /**
     * Returns the file system that has a folder.
     *
     * @throws IOException also if one that is configured for the folder or above it is not mounted
     */
    public MountedFileSystem require(Path folder) throws IOException {
        for (Path at = folder; at != null; at = at.getParent()) {
            Optional<String> where = configuredIn(at);
            if (where.isPresent() && visibleAt(at).isEmpty()) {
                throw notMounted(folder, at, "configured in " + where.get());
            }
        }
        MountedFileSystem containing = MountedFileSystem.containing(mounted, folder)
                .orElseThrow(() -> new IOException(folder + ": no mount has this folder; mount /proc"));
        if (containing.type().equals(AUTOFS)) {
            throw notMounted(folder, containing.mountPoint(), "awaited by an automounter");
        }
        return containing;
    }

    /** Enters what an automounter mounts when it is used; call it before the kernel's mounts are read. */
    public static void trigger(Path folder) throws IOException {
        for (Path at = folder; at != null; at = at.getParent()) {
            if (Files.isDirectory(at)) {
                try (Stream<Path> names = Files.list(at)) {
                    names.limit(1).forEach(name -> {});
                }
                return;
            }
        }
    }

    private Optional<MountedFileSystem> visibleAt(Path at) {
        return mounted.stream()
                .filter(mount -> mount.mountPoint().equals(at))
                .reduce((first, second) -> second)
                .filter(mount -> !mount.type().equals(AUTOFS));
    }

    private Optional<String> configuredIn(Path at) throws IOException {
        Path fstab = units.root().resolve("etc/fstab");
        if (AtomicFile.exists(fstab)) {
            String text = new String(AtomicFile.read(fstab, MAX_FSTAB), StandardCharsets.UTF_8);
            if (text.lines().map(ConfiguredMounts::mountPoint).anyMatch(at.toString()::equals)) {
                return Optional.of(fstab.toString());
            }
        }
        for (String ending : List.of(".mount", ".automount")) {
            String unit = escape(at) + ending;
            if (units.exists(unit)) {
                return Optional.of("the unit " + unit);
            }
        }
        return Optional.empty();
    }

    /** Returns a line's second field without a trailing slash; empty for a comment or a short line; fstab(5). */
    private static String mountPoint(String line) {
        String[] fields = line.strip().split("[ \t]+", -1);
        if (fields.length < 2 || fields[0].startsWith("#")) {
            return "";
        }
        Matcher escapes = ESCAPE.matcher(fields[1]);
        String place = escapes.replaceAll(
                found -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 8))));
        return place.length() > 1 ? place.replaceFirst("/+$", "") : place;
    }

    /** Returns a path as the name of its unit; systemd.unit(5), "String escaping". */
    static String escape(Path path) {
        String text = path.toString().substring(1);
        if (text.isEmpty()) {
            return "-";
        }
        StringBuilder name = new StringBuilder();
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            char character = (char) (each & 0xff);
            boolean plain = character < 0x80 && (Character.isLetterOrDigit(character) || ":_.".indexOf(character) >= 0);
            if (character == '/') {
                name.append('-');
            } else if (plain && !(name.isEmpty() && character == '.')) {
                name.append(character);
            } else {
                name.append(String.format("\\x%02x", (int) character));
            }
        }
        return name.toString();
    }

    private static IOException notMounted(Path folder, Path at, String why) {
        return new IOException(folder + ": want its file system mounted, have none at " + at + ", which is " + why
                + "; run mount " + at + " first");
    }
}
