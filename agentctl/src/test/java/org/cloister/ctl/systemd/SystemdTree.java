package org.cloister.ctl.systemd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.cloister.base.process.ProcessRunner;

/**
 * Tree of files that stands for a machine: its units are those of this project, its systemctl is a script that records
 * its words, and systemd-creds is systemd's own with a key of the tree.
 */
public record SystemdTree(Path root) {
    /** Lays out a machine on which systemd runs. */
    public static SystemdTree running(Path root) throws IOException {
        SystemdTree tree = offline(root);
        Files.createDirectories(root.resolve("run/systemd/system"));
        Path systemctl =
                Files.writeString(root.resolve("bin/systemctl"), "#!/bin/sh\necho \"$*\" >>%s/calls\n".formatted(root));
        Files.setPosixFilePermissions(systemctl, PosixFilePermissions.fromString("rwxr-xr-x"));
        return tree;
    }

    /** Lays out a machine on which systemd does not run; systemctl is systemd's own. */
    public static SystemdTree offline(Path root) throws IOException {
        for (String each : List.of("bin", "etc/systemd/system", "usr/lib/systemd/system")) {
            Files.createDirectories(root.resolve(each));
        }
        return new SystemdTree(root);
    }

    /** Installs one of the units of this project. */
    public SystemdTree with(String unit) throws IOException {
        Files.copy(
                Path.of("../systemd").resolve(unit),
                root.resolve("usr/lib/systemd/system").resolve(unit));
        return this;
    }

    public SystemdUnits units() {
        return new SystemdUnits(
                root,
                ProcessRunner.withPrefix(List.of(
                        "env",
                        "PATH=" + root.resolve("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin",
                        "SYSTEMD_CREDENTIAL_SECRET=" + root.resolve("credential.secret"))));
    }

    /** Returns what systemctl was called with, one call a line. */
    public List<String> calls() throws IOException {
        Path calls = root.resolve("calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }
}
