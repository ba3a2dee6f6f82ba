package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;

/** munged on machines that share a key, as those of one Slurm do. */
public final class LabMunge {
    private static final int KEY_BYTES = 128;

    private LabMunge() {}

    /** Writes a new key, which only root can read. */
    public static Path writeKey(Path file) throws IOException {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Files.write(file, key);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    /** Starts munged; it answers when this returns. */
    public static void start(LabMachine machine, Path key) throws IOException {
        machine.command("mkdir", "-p", "/run/munge").succeed();
        machine.command(
                        "munged",
                        "--key-file=" + key,
                        "--pid-file=/run/munge/munged.pid",
                        "--log-file=" + machine.log("munged"),
                        "--seed-file=/run/munge/seed",
                        "--num-threads=4")
                .succeed();
    }
}
