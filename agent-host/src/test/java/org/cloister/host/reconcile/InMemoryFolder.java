package org.cloister.host.reconcile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** A folder in memory if the machine has one: for tests that wait for a disk some ten thousand times and ask nothing of it. */
final class InMemoryFolder implements TempDirFactory {
    private static final Path SHARED = Path.of("/dev/shm");

    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
        return Files.isWritable(SHARED)
                ? Files.createTempDirectory(SHARED, "cloister-")
                : Files.createTempDirectory("cloister-");
    }
}
