package org.cloister.protocol.audit;

import java.io.IOException;
import java.io.InputStream;

/**
 * File of a log as a verifier receives it.
 *
 * @param name for people; the first line states the segment's position in the log
 * @param source opened once or twice, and closed each time
 */
public record AuditSegment(String name, Source source) {
    /** Opens the segment at its beginning. */
    @FunctionalInterface
    public interface Source {
        InputStream open() throws IOException;
    }
}
