package org.cloister.vm.system.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.process.ProcessRunner;

/**
 * One line of {@code /proc/self/mountinfo}.
 *
 * @param options of this place, such as {@code rw,nosuid,nodev}
 * @param source a device, {@code SERVER:/PATH}, or what the file system calls itself
 */
public record MountedFileSystem(Path mountPoint, List<String> options, String type, String source) {
    private static final Path ALL = Path.of("/proc/self/mountinfo");
    private static final Pattern LINE =
            Pattern.compile("\\d+ \\d+ \\d+:\\d+ (\\S+) (\\S+) (\\S+)(?: \\S+)* - (\\S+) (\\S+) \\S+");
    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");

    public MountedFileSystem {
        options = List.copyOf(options);
    }

    /**
     * Mounts ext4 for files alone: no devices and no privileges come of what is on it, and where it is broken nothing is
     * written to it any more, whatever its superblock would like. The folder is made if it is not there.
     */
    public static void mountExt4(ProcessRunner programs, Path device, Path at) throws IOException {
        Files.createDirectories(at);
        programs.runChecked(
                "mount",
                "-t",
                "ext4",
                "-o",
                "nosuid,nodev,noatime,errors=remount-ro",
                device.toString(),
                at.toString());
    }

    /** All that the machine has, those that others cover among them. */
    public static List<MountedFileSystem> list(ProcessRunner programs) throws IOException {
        return parse(programs.read(ALL));
    }

    /** Those at one place, the one that is seen last. */
    public static List<MountedFileSystem> at(ProcessRunner programs, Path place) throws IOException {
        return list(programs).stream()
                .filter(mount -> mount.mountPoint.equals(place))
                .toList();
    }

    static List<MountedFileSystem> parse(String text) throws IOException {
        List<MountedFileSystem> mounts = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher fields = LINE.matcher(line);
            if (!fields.matches()) {
                throw new IOException("mountinfo: want its fields, have \"" + line.replaceAll("[^ -~]", "?") + "\"");
            }
            mounts.add(new MountedFileSystem(
                    Path.of(plain(fields.group(2))),
                    List.of(fields.group(3).split(",", -1)),
                    plain(fields.group(4)),
                    plain(fields.group(5))));
        }
        return mounts;
    }

    /** The kernel writes blanks, tabs, line ends and backslashes as octal numbers. */
    private static String plain(String field) {
        return ESCAPE.matcher(field)
                .replaceAll(
                        found -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 8))));
    }
}
