package org.cloister.base.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExclusiveLockTest {
    @TempDir
    private Path folder;

    @Test
    void what_is_taken_is_refused_until_it_is_given_back() throws IOException {
        Path lock = folder.resolve("lock");
        try (ExclusiveLock first = ExclusiveLock.acquire(lock, "ledger x")) {
            assertThat(first).isNotNull();
            assertThat(Files.getPosixFilePermissions(lock)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
            assertThatThrownBy(() -> ExclusiveLock.acquire(lock, "ledger x"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("ledger x: another process has locked it; stop that process");
        }
        ExclusiveLock.acquire(lock, "ledger x").close();
    }
}
