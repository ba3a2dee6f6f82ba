package org.cloister.protocol.audit.log;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import org.cloister.protocol.dsse.SigningKey;

/** A log that makes a file for each group, so that it can be written exactly while its folder is there. */
public final class TinySegments {
    private TinySegments() {}

    public static AuditLog open(Path folder, String relay, SigningKey key, InstantSource clock) throws IOException {
        return AuditLog.open(folder, relay, key, clock, 1);
    }
}
