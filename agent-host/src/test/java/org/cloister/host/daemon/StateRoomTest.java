package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.host.scratch.SmallFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real file system that another's file fills. */
class StateRoomTest {
    @TempDir
    private Path path;

    @Test
    void a_full_disk_is_said_with_what_is_wanted_until_it_has_room_again() throws Exception {
        try (SmallFileSystem disk = SmallFileSystem.tmpfs(path.resolve("m"), 65)) {
            StateRoom room = new StateRoom(disk.folder());
            assertThat(room.failure()).isEmpty();
            Path other = disk.fill();
            assertThat(room.failure())
                    .hasValue(disk.folder() + ": want 64 MiB free on its file system, have 0; remove what fills it");
            Files.delete(other);
            assertThat(room.failure()).isEmpty();
        }
    }

    @Test
    void a_folder_that_is_gone_is_said() {
        assertThat(new StateRoom(path.resolve("gone")).failure().orElseThrow())
                .contains("gone: its free space is unknown");
    }
}
