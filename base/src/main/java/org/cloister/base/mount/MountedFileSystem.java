package org.cloister.base.mount;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.process.ProcessRunner;

/**
 * Mount as one line of {@code /proc/self/mountinfo} describes it; proc_pid_mountinfo(5).
 *
 * @param root folder of the file system that is mounted
 * @param place where it is mounted
 * @param options of this mount, such as {@code rw,nosuid,nodev}
 * @param source a device, {@code SERVER:/PATH}, or the file system's own word, which may be empty
 * @param fileSystemOptions options of the file system, for all of its mounts
 */
public record MountedFileSystem(
        String root, String place, List<String> options, String type, String source, List<String> fileSystemOptions) {
    private static final Path ALL = Path.of("/proc/self/mountinfo");
    /**
     * Fields are separated by one blank. Users choose some of them, such as the place of a FUSE mount: only blanks,
     * tabs, line feeds and backslashes are written as numbers, and no line of theirs may stop the reading.
     */
    private static final Pattern LINE = Pattern.compile(
            "\\d+ \\d+ \\d+:\\d+ ([^ ]*) ([^ ]*) ([^ ]*)(?: [^ ]+)*? - ([^ ]*) ([^ ]*) (.*)", Pattern.DOTALL);

    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");

    public MountedFileSystem {
        options = List.copyOf(options);
        fileSystemOptions = List.copyOf(fileSystemOptions);
    }

    public Path mountPoint() {
        return Path.of(place);
    }

    /** Returns all mounts of the machine, including those that others cover. */
    public static List<MountedFileSystem> list(ProcessRunner programs) throws IOException {
        return parse(programs.read(ALL));
    }

    /** Returns the mounts at one mount point; the visible one is last. */
    public static List<MountedFileSystem> at(ProcessRunner programs, Path at) throws IOException {
        return list(programs).stream()
                .filter(mount -> mount.place.equals(at.toString()))
                .toList();
    }

    /** Returns the mount that a file or folder is seen in; empty if none of these has it. */
    public static Optional<MountedFileSystem> containing(List<MountedFileSystem> mounts, Path file) {
        return mounts.stream()
                .filter(mount -> file.startsWith(mount.mountPoint()))
                // The last of equal ones is visible.
                .reduce((first, second) -> depth(second) >= depth(first) ? second : first);
    }

    private static int depth(MountedFileSystem mount) {
        return mount.mountPoint().getNameCount();
    }

    /** Parses the whole text of the kernel. */
    public static List<MountedFileSystem> parse(String text) throws IOException {
        List<MountedFileSystem> mounts = new ArrayList<>();
        int from = 0;
        while (from < text.length()) {
            // Not lines(): a carriage return in a place ends no line.
            int end = text.indexOf('\n', from);
            String line = end < 0 ? text.substring(from) : text.substring(from, end);
            from += line.length() + 1;
            Matcher fields = LINE.matcher(line);
            if (!fields.matches()) {
                throw new IOException("mountinfo: want its fields, have \"" + line.replaceAll("[^ -~]", "?") + "\"");
            }
            mounts.add(new MountedFileSystem(
                    decode(fields.group(1)),
                    decode(fields.group(2)),
                    List.of(fields.group(3).split(",", -1)),
                    decode(fields.group(4)),
                    decode(fields.group(5)),
                    List.of(fields.group(6).split(",", -1))));
        }
        return mounts;
    }

    /** Decodes a field: the kernel writes blanks, tabs, line ends and backslashes as octal numbers. */
    private static String decode(String field) {
        return ESCAPE.matcher(field)
                .replaceAll(
                        found -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 8))));
    }
}
