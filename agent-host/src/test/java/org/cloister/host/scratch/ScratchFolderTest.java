package org.cloister.host.scratch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.scratch.ScratchFiles.ScratchFile;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScratchFolderTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);
    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;

    @TempDir
    private Path path;

    private ScratchFolder folder = new ScratchFolder(Path.of(""), 0);

    @BeforeEach
    void open() {
        folder = new ScratchFolder(path, 4 * GIB);
    }

    @Test
    void a_file_has_the_size_that_was_asked_for_and_takes_no_room() throws Exception {
        long before = Files.getFileStore(path).getUnallocatedSpace();
        Path file = folder.make(OWNER, 3 * GIB);
        assertThat(Files.size(file)).isEqualTo(3 * GIB);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        // Others write to the same file system.
        assertThat(before - Files.getFileStore(path).getUnallocatedSpace()).isLessThan(GIB);
        assertThat(folder.list().all()).containsExactly(new ScratchFile(OWNER, 3 * GIB));
    }

    @Test
    void a_file_that_is_there_is_not_made_again() throws Exception {
        Path file = folder.make(OWNER, MIB);
        Files.write(file, new byte[] {1}, StandardOpenOption.WRITE);
        assertThatThrownBy(() -> folder.make(OWNER, MIB)).isInstanceOf(FileAlreadyExistsException.class);
        assertThat(Files.size(file)).isEqualTo(MIB);
    }

    @Test
    void files_together_have_no_more_than_the_budget() throws Exception {
        folder.make(OWNER, 3 * GIB);
        assertThatThrownBy(() -> folder.make(ResourceOwners.owner(2), GIB + 1))
                .isInstanceOf(StartFailed.class)
                .hasMessageContaining("disk full: a VM needs " + (GIB + 1) + " bytes, and " + 3 * GIB
                        + " of its budget of " + 4 * GIB)
                .matches(e -> ((StartFailed) e).code() == VmRunCode.UNAVAILABLE);
        assertThat(folder.list().all()).hasSize(1);
        folder.make(ResourceOwners.owner(2), GIB);
    }

    @Test
    void a_file_is_not_promised_what_the_file_system_does_not_have() throws Exception {
        long much = Files.getFileStore(path).getTotalSpace() + GIB;
        ScratchFolder generous = new ScratchFolder(path, Long.MAX_VALUE);
        assertThatThrownBy(() -> generous.make(OWNER, much))
                .isInstanceOf(StartFailed.class)
                .hasMessageContaining("disk full: a VM needs " + much + " bytes, and its file system has ")
                .hasMessageContaining("; free space");
        assertThat(folder.list().all()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void what_was_written_is_gone_before_the_name_is(ErasureMethod method) throws Exception {
        Path file = folder.make(OWNER, GIB);
        byte[] secret = new byte[4096];
        Arrays.fill(secret, (byte) 's');
        List<Long> places = List.of(0L, MIB - 1, 5 * MIB, GIB - secret.length);
        try (FileChannel guest = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (long place : places) {
                guest.write(ByteBuffer.wrap(secret), place);
            }
            ScratchFileErasure erasure = folder.erase(OWNER, method);
            // They lie in four blocks of a MiB, of which one holds two and one across a border.
            assertThat(erasure)
                    .isEqualTo(new ScratchFileErasure(
                            OWNER, method, GIB, method == ErasureMethod.OVERWRITE ? 4 * MIB : 0));
            assertThat(guest.size()).isZero();
            assertThat(guest.read(ByteBuffer.allocate(1), 0)).isEqualTo(-1);
        }
        assertThat(folder.list().all()).containsExactly(new ScratchFile(OWNER, 0));
        assertThat(folder.erase(OWNER, method)).isEqualTo(new ScratchFileErasure(OWNER, method, 0, 0));
        folder.unlink(OWNER);
        folder.unlink(OWNER);
        assertThat(file).doesNotExist();
        assertThatThrownBy(() -> folder.erase(OWNER, method)).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void a_link_under_our_name_is_not_followed() throws Exception {
        Path other = Files.writeString(path.resolve("other"), "another's");
        Files.createSymbolicLink(folder.file(OWNER), other);
        assertThatThrownBy(() -> folder.erase(OWNER, ErasureMethod.DISCARD)).isInstanceOf(IOException.class);
        assertThat(other).hasContent("another's");
        assertThat(folder.list().all()).isEmpty();
        assertThat(folder.list().unknown())
                .contains("other", folder.file(OWNER).getFileName().toString());
    }

    @Test
    void what_is_not_named_as_ours_is_named_and_left() throws Exception {
        Files.createDirectory(path.resolve("lost+found"));
        Files.createDirectory(folder.file(ResourceOwners.owner(2)));
        Files.writeString(path.resolve(ScratchFileName.of(OWNER) + ".bak"), "");
        folder.make(OWNER, MIB);
        assertThat(folder.list().all()).containsExactly(new ScratchFile(OWNER, MIB));
        assertThat(folder.list().unknown())
                .containsExactlyInAnyOrder(
                        "lost+found", ScratchFileName.of(OWNER) + ".bak", ScratchFileName.of(ResourceOwners.owner(2)));
    }

    @Test
    void a_folder_that_is_not_there_is_not_an_empty_one() {
        ScratchFolder gone = new ScratchFolder(path.resolve("gone"), GIB);
        assertThatThrownBy(gone::list).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> gone.make(OWNER, MIB)).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void a_name_tells_the_whole_owner() {
        String name = ScratchFileName.of(OWNER);
        assertThat(ScratchFileName.parse(name)).contains(OWNER);
        ResourceOwner longest =
                new ResourceOwner(OWNER.project(), "z".repeat(64), 65_535, (1L << 53) - 1, OWNER.uuid());
        assertThat(ScratchFileName.of(longest)).hasSizeLessThan(255);
        assertThat(ScratchFileName.parse(ScratchFileName.of(longest))).contains(longest);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "x.scratch", "../../etc/passwd"})
    void other_names_tell_nobody(String name) {
        assertThat(ScratchFileName.parse(name)).isEmpty();
    }

    @Test
    void a_name_that_is_almost_ours_tells_nobody() {
        String name = ScratchFileName.of(OWNER);
        for (String other : List.of(
                name + "\n",
                name.toUpperCase(Locale.ROOT),
                name.replace(".1.", ".01."),
                name.replace(".1.", ".65536."),
                name.replace(".101.", ".9999999999999999."),
                name.replace("-4000-", "-4000+"),
                name.replaceFirst("p", "1"))) {
            assertThat(ScratchFileName.parse(other)).as(other).isEqualTo(Optional.empty());
        }
    }
}
