package org.cloister.lab.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.cloister.lab.Command;

/**
 * An ordinary user of a cluster, in its own passwd and group.
 *
 * @param uid and gid
 */
public record User(String name, int uid) {
    public static final User ALICE = new User("alice", 2001);
    public static final User BOB = new User("bob", 2002);
    static final List<User> ALL = List.of(ALICE, BOB);

    /** Of an account of Slurm's that all charge. */
    static final String ACCOUNT = "project";

    String home() {
        return "/home/" + name;
    }

    /** @param etc a whole copy of the real one */
    void enter(Path etc, Path homes) throws IOException {
        append(etc.resolve("passwd"), "%s:x:%d:%d::%s:/bin/bash%n".formatted(name, uid, uid, home()));
        append(etc.resolve("group"), "%s:x:%d:%n".formatted(name, uid));
        Path home = Files.createDirectories(homes.resolve(name));
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
        Command.of("chown", uid + ":" + uid, home.toString()).succeed();
    }

    private static void append(Path file, String line) throws IOException {
        Files.writeString(file, line, StandardOpenOption.APPEND);
    }
}
