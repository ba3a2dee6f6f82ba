package org.cloister.protocol.audit;

import java.io.IOException;
import java.io.InputStream;

/**
 * A file of a log, as it is given to a verifier.
 *
 * @param name for people; its place in the log is what its first line says
 * @param source opened once or twice, and closed
 */
public record AuditSegment(String name, Source source) {
    /** Opens it at its beginning. */
    @FunctionalInterface
    public interface Source {
        InputStream open() throws IOException;
    }
}
