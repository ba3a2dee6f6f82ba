package org.cloister.ctl.systemd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.base.process.ProcessRunner;

/**
 * Units of systemd on this machine, or in a tree of files that stands for one. Where systemd does not run, units are
 * changed and enabled, and nothing is reloaded or started.
 *
 * @param root of the tree
 * @param programs runner of systemctl
 */
public record SystemdUnits(Path root, ProcessRunner programs) {
    /** Folders of units, first the one that wins; systemd.unit(5). */
    private static final List<String> FOLDERS = List.of(
            "etc/systemd/system",
            "run/systemd/system",
            "run/systemd/generator",
            "usr/local/lib/systemd/system",
            "usr/lib/systemd/system",
            "lib/systemd/system");

    /** Hidden from our units by ProtectHome= and PrivateTmp=. */
    private static final List<String> HIDDEN = List.of("home", "root", "run/user", "tmp", "var/tmp");

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final int MAX_DROP_IN = 64 * 1024;
    private static final Pattern PID = Pattern.compile("[0-9]{1,9}");
    private static final String HEAD = "# Written by agentctl, which replaces it.\n";
    /** Drop-in as operators wrote it by hand before agentctl did. */
    private static final Pattern BY_HAND = Pattern.compile("\\[Service]\\nReadWritePaths=/\\S+\\n");

    /** Returns the units of this machine. */
    public static SystemdUnits ofMachine() {
        return new SystemdUnits(Path.of("/"), ProcessRunner.local());
    }

    /** Returns whether a unit of that name is installed; one that is masked counts too. */
    public boolean exists(String unit) throws IOException {
        for (String folder : FOLDERS) {
            if (AtomicFile.exists(root.resolve(folder).resolve(unit), LinkOption.NOFOLLOW_LINKS)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether systemd runs; sd_booted(3). */
    public boolean running() throws IOException {
        return AtomicFile.exists(root.resolve("run/systemd/system"));
    }

    /** @throws IOException if our units cannot see the folder, whatever their drop-ins say */
    public void requireVisible(WritableFolder folder, String unit) throws IOException {
        for (String each : HIDDEN) {
            Path hidden = root.resolve(each);
            if (folder.path().startsWith(hidden)) {
                throw new IOException(folder + ": want a folder that " + unit + " can see, have one below " + hidden
                        + ", which the unit hides; use another");
            }
        }
    }

    /**
     * Lets a unit write to a folder, by a drop-in.
     *
     * @param name of the drop-in, without its ending
     * @return the drop-in's file
     * @throws IOException also if that file has something else, which stays
     */
    public Path allowWrites(String unit, String name, WritableFolder folder) throws IOException {
        Path parent = root.resolve("etc/systemd/system").resolve(unit + ".d");
        Path file = parent.resolve(name + ".conf");
        String content = HEAD + "[Service]\nReadWritePaths=" + folder + "\n";
        if (AtomicFile.exists(file)) {
            String present = new String(AtomicFile.read(file, MAX_DROP_IN), StandardCharsets.UTF_8);
            if (present.equals(content)) {
                return file;
            }
            if (!present.startsWith(HEAD) && !BY_HAND.matcher(present).matches()) {
                throw new IOException(file + ": want a drop-in that agentctl wrote, have another; move it away");
            }
        }
        Files.createDirectories(
                parent, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        WorldReadableFile.replace(file, content.getBytes(StandardCharsets.UTF_8));
        return file;
    }

    /** Removes a drop-in that {@link #allowWrites} wrote; its folder may be gone, and the unit would not start. */
    public void disallowWrites(String unit, String name) throws IOException {
        Path file = root.resolve("etc/systemd/system").resolve(unit + ".d").resolve(name + ".conf");
        if (AtomicFile.exists(file)
                && new String(AtomicFile.read(file, MAX_DROP_IN), StandardCharsets.UTF_8).startsWith(HEAD)) {
            Files.delete(file);
        }
    }

    /** Has systemd read its units again, where it runs. */
    public void reload() throws IOException {
        if (running()) {
            systemctl("daemon-reload");
        }
    }

    /** Has a unit start with the machine, and starts or restarts it where systemd runs. */
    public void enableAndRestart(String unit) throws IOException {
        if (running()) {
            systemctl("enable", "--quiet", unit);
            systemctl("restart", unit);
        } else {
            systemctl("--root=" + root, "enable", "--quiet", unit);
        }
    }

    /**
     * Returns when the main process of a unit started, to about a second; empty if the unit does not run, or systemd
     * does not.
     */
    public Optional<Instant> startTime(String unit) throws IOException {
        if (!running()) {
            return Optional.empty();
        }
        String pid = systemctl("show", "--property=MainPID", "--value", unit).strip();
        if (!PID.matcher(pid).matches()) {
            throw new IOException(
                    "systemctl show --property=MainPID " + unit + ": expected a number, got \"" + pid + "\"");
        }
        // 0 is that of a unit that does not run; no process has it.
        return ProcessHandle.of(Long.parseLong(pid))
                .flatMap(process -> process.info().startInstant());
    }

    /** Restarts a unit that runs, under a systemd that runs. */
    public void restart(String unit) throws IOException {
        systemctl("restart", unit);
    }

    private String systemctl(String... words) throws IOException {
        List<String> command =
                Stream.concat(Stream.of("systemctl"), Arrays.stream(words)).toList();
        ProcessRunner.Output output = programs.run("", command, LIMIT);
        if (output.exit() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.errorSummary());
        }
        return output.out();
    }
}
