package org.cloister.luks.secret;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretMemoryFileTest {
    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);

    @TempDir
    private Path folder;

    SecretMemoryFileTest() throws IOException {}

    @Test
    void a_new_file_holds_the_secret_and_its_owner_alone_reads_it() throws IOException {
        Path file = folder.resolve("key");
        try (SecretMemory secret = secrets.random(128)) {
            secrets.writeNew(file, 0400, secret);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("r--------");
            try (SecretMemory read = secrets.readFile(file, 128)) {
                assertThat(read.sameAs(secret)).isTrue();
            }
        }
    }

    @Test
    void what_is_there_is_left_and_a_link_is_not_followed() throws IOException {
        Path file = Files.writeString(folder.resolve("key"), "before");
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("elsewhere"));
        try (SecretMemory secret = secrets.random(32)) {
            assertThatThrownBy(() -> secrets.writeNew(file, 0400, secret))
                    .isInstanceOf(SecretException.class)
                    .hasMessageContaining("secret to " + file);
            assertThatThrownBy(() -> secrets.writeNew(link, 0400, secret)).isInstanceOf(SecretException.class);
        }
        assertThat(file).hasContent("before");
        assertThat(folder.resolve("elsewhere")).doesNotExist();
    }
}
