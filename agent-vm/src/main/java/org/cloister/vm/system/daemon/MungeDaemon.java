package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;

/** This VM's munged: the distribution's unit, with the project's key, which exists only while it runs. */
public final class MungeDaemon {
    public static final String UNIT = "munge.service";

    private final UnitControl services;
    private final SecretFile key;

    /**
     * Creates the daemon's control.
     *
     * @param run a folder on tmpfs
     */
    public MungeDaemon(UnitControl services, Path run) {
        this.services = services;
        this.key = new SecretFile(run.resolve("munge").resolve("munge.key"));
    }

    /**
     * Writes the key and starts munged.
     *
     * @param reader munged's own account
     */
    public void start(SecretAllocator secrets, SecretMemory secret, DaemonAccount reader) throws IOException {
        key.write(secrets, secret, reader);
        services.start(
                UNIT,
                "[Service]\nExecStart=\nExecStart=/usr/sbin/munged --key-file=" + key.path()
                        + " --num-threads=2 --syslog\n"
                        // Any user can cause log lines with invalid credentials: the journal, which has a bound, stores
                        // them. When memory is short, the kernel kills jobs first.
                        + "OOMScoreAdjust=-800\n");
    }

    /** Stops munged and erases the key, whether it ran or not. */
    public void stop() throws IOException {
        services.stop(UNIT);
        key.erase();
    }
}
