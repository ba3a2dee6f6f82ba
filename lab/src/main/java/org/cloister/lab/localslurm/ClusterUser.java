package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.cloister.lab.LabCommand;

/**
 * An ordinary user of a cluster, in its own passwd and group.
 *
 * @param uid and gid
 */
public record ClusterUser(String name, int uid) {
    public static final ClusterUser ALICE = new ClusterUser("alice", 2001);
    public static final ClusterUser BOB = new ClusterUser("bob", 2002);
    static final List<ClusterUser> ALL = List.of(ALICE, BOB);

    /** Account of Slurm's that all users charge. */
    static final String ACCOUNT = "project";

    public String home() {
        return "/home/" + name;
    }

    /** @param etc a whole copy of the real one */
    void addTo(Path etc, Path homes) throws IOException {
        append(etc.resolve("passwd"), "%s:x:%d:%d::%s:/bin/bash%n".formatted(name, uid, uid, home()));
        append(etc.resolve("group"), "%s:x:%d:%n".formatted(name, uid));
        Path home = Files.createDirectories(homes.resolve(name));
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
        LabCommand.of("chown", uid + ":" + uid, home.toString()).succeed();
    }

    private static void append(Path file, String line) throws IOException {
        Files.writeString(file, line, StandardOpenOption.APPEND);
    }
}
