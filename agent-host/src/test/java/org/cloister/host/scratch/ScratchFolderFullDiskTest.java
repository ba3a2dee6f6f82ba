package org.cloister.host.scratch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests scratch folders on file systems that are full, and on the files below one. */
class ScratchFolderFullDiskTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);
    private static final int MIB = 1 << 20;
    private static final String SECRET = "only the project may read this";

    @TempDir
    private Path path;

    @Test
    void a_disk_that_is_full_is_a_refusal_and_room_comes_back_with_the_erasure() throws Exception {
        try (SmallFileSystem disk = SmallFileSystem.tmpfs(path.resolve("m"), 8)) {
            ScratchFolder folder = new ScratchFolder(disk.folder(), 64 * MIB);
            assertThatThrownBy(() -> folder.make(OWNER, 9 * MIB))
                    .isInstanceOf(StartFailed.class)
                    .hasMessageContaining("needs " + 9 * MIB + " bytes, and its file system has " + 8 * MIB)
                    .matches(e -> ((StartFailed) e).code() == VmRunCode.HOST);
            Path file = folder.make(OWNER, 6 * MIB);
            write(file, 6 * MIB, 0);
            assertThatThrownBy(() -> folder.make(ResourceOwners.owner(2), 3 * MIB))
                    .isInstanceOf(StartFailed.class);
            disk.fill();
            assertThatThrownBy(() -> folder.make(ResourceOwners.owner(2), 1)).isInstanceOf(StartFailed.class);
            assertThat(folder.list().all()).hasSize(1);
            folder.erase(OWNER, ErasureMethod.OVERWRITE);
            assertThat(Files.getFileStore(disk.folder()).getUsableSpace()).isEqualTo(6 * MIB);
            folder.unlink(OWNER);
            folder.make(ResourceOwners.owner(2), 3 * MIB);
        }
    }

    @Test
    void what_was_overwritten_is_not_on_the_device_any_more() throws Exception {
        assertThat(leftAfter(ErasureMethod.OVERWRITE, "nodiscard")).isZero();
    }

    @Test
    void what_was_discarded_is_not_on_a_device_that_discards() throws Exception {
        assertThat(leftAfter(ErasureMethod.DISCARD, "discard")).isZero();
    }

    /** @return secrets in the device's bytes */
    private int leftAfter(ErasureMethod method, String options) throws Exception {
        Path image = path.resolve("image");
        try (SmallFileSystem disk = SmallFileSystem.ext4(path.resolve("m"), image, 64, options)) {
            ScratchFolder folder = new ScratchFolder(disk.folder(), 64 * MIB);
            Path file = folder.make(OWNER, 32 * MIB);
            write(file, 4 * MIB, 0);
            write(file, 4 * MIB, 20 * MIB);
            assertThat(secrets(image)).isPositive();
            assertThat(folder.erase(OWNER, method).bytes()).isEqualTo(32 * MIB);
            folder.unlink(OWNER);
        }
        return secrets(image);
    }

    private static void write(Path file, int bytes, long at) throws IOException {
        ByteBuffer text = ByteBuffer.wrap(SECRET.repeat(bytes / SECRET.length()).getBytes(StandardCharsets.US_ASCII));
        try (FileChannel guest = FileChannel.open(file, StandardOpenOption.WRITE)) {
            guest.write(text, at);
            guest.force(true);
        }
    }

    private static int secrets(Path image) throws IOException {
        String all = Files.readString(image, StandardCharsets.ISO_8859_1);
        int count = 0;
        for (int at = all.indexOf(SECRET); at >= 0; at = all.indexOf(SECRET, at + 1)) {
            count++;
        }
        return count;
    }
}
