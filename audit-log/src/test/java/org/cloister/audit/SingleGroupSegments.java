package org.cloister.audit;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import org.cloister.protocol.dsse.SigningKey;

/** A log that makes a file for each group, so that it can be written exactly while its folder is there. */
public final class SingleGroupSegments {
    private SingleGroupSegments() {}

    public static AuditLogWriter open(Path folder, String relay, SigningKey key, InstantSource clock)
            throws IOException {
        return AuditLogWriter.open(folder, relay, key, clock, 1);
    }
}
