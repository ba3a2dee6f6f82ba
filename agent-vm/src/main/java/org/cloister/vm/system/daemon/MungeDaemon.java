package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;

/** This VM's munged: the distribution's unit, with a key of ours that is there while it runs. */
public final class MungeDaemon {
    public static final String UNIT = "munge.service";

    private final UnitControl services;
    private final SecretFile key;

    /** @param run a folder on tmpfs */
    public MungeDaemon(UnitControl services, Path run) {
        this.services = services;
        this.key = new SecretFile(run.resolve("munge").resolve("munge.key"));
    }

    /** @param reader munged's own account */
    public void start(SecretAllocator secrets, SecretMemory with, DaemonAccount reader) throws IOException {
        key.write(secrets, with, reader);
        services.start(
                UNIT,
                "[Service]\nExecStart=\nExecStart=/usr/sbin/munged --key-file=" + key.path()
                        + " --num-threads=2 --syslog\n"
                        // Any user has it write a line by an invalid credential: the journal, which has a bound,
                        // takes them.
                        // Jobs go first when memory is short.
                        + "OOMScoreAdjust=-800\n");
    }

    /** It runs no more, and the key is gone; whether it ran or not. */
    public void stop() throws IOException {
        services.stop(UNIT);
        key.erase();
    }
}
