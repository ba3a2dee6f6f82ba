package org.cloister.base.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalLookupService;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // JUnit sets the fields
class AtomicFileTest {
    private static final byte[] CONTENT = "content\n".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    private Path folder;

    private Path file;
    private Path beside;

    @BeforeEach
    void name() {
        file = folder.resolve("key");
        beside = folder.resolve("key.new");
    }

    private void is_whole_and_alone() throws IOException {
        assertThat(file).hasBinaryContent(CONTENT);
        assertThat(Files.isSymbolicLink(file)).isFalse();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(beside).doesNotExist();
    }

    @Test
    void a_write_that_fails_leaves_nothing_in_the_way_of_the_next() throws IOException {
        Thread.currentThread().interrupt(); // the write fails, after its file was made
        assertThatThrownBy(() -> AtomicFile.create(file, CONTENT)).isInstanceOf(ClosedByInterruptException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(folder).isEmptyDirectory();
        AtomicFile.create(file, CONTENT);
        is_whole_and_alone();
    }

    @Test
    void a_file_that_is_there_stays_as_it_is() throws IOException {
        Files.writeString(file, "before");
        assertThatThrownBy(() -> AtomicFile.create(file, CONTENT)).isInstanceOf(FileAlreadyExistsException.class);
        assertThat(file).hasContent("before");
        assertThat(beside).doesNotExist();
    }

    @Test
    void what_a_kill_left_beside_it_is_no_obstacle() throws IOException {
        Files.writeString(beside, "half");
        AtomicFile.create(file, CONTENT);
        is_whole_and_alone();
    }

    @Test
    void a_link_beside_it_is_not_followed() throws IOException {
        Path elsewhere = Files.writeString(folder.resolve("elsewhere"), "before");
        Files.createSymbolicLink(beside, elsewhere);
        AtomicFile.create(file, CONTENT);
        is_whole_and_alone();
        assertThat(elsewhere).hasContent("before");
    }

    @Test
    void a_kill_before_the_second_name_was_gone_does_no_harm_to_the_first() throws IOException {
        Files.write(file, CONTENT);
        Files.createLink(beside, file);
        assertThatThrownBy(() -> AtomicFile.create(file, new byte[1])).isInstanceOf(FileAlreadyExistsException.class);
        assertThat(file).hasBinaryContent(CONTENT);
        Files.createLink(beside, file);
        AtomicFile.replace(file, new byte[] {1});
        assertThat(file).hasBinaryContent(new byte[] {1});
        assertThat(beside).doesNotExist();
    }

    @Test
    void a_rewritten_file_keeps_its_owner_group_and_mode() throws IOException {
        Files.writeString(file, "before");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        UserPrincipalLookupService accounts = folder.getFileSystem().getUserPrincipalLookupService();
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (System.getProperty("user.name").equals("root")) {
            view.setOwner(accounts.lookupPrincipalByName("daemon"));
            view.setGroup(accounts.lookupPrincipalByGroupName("games"));
        }
        PosixFileAttributes before = view.readAttributes();
        AtomicFile.rewrite(file, CONTENT);
        PosixFileAttributes after = view.readAttributes();
        assertThat(file).hasBinaryContent(CONTENT);
        assertThat(after.owner()).isEqualTo(before.owner());
        assertThat(after.group()).isEqualTo(before.group());
        assertThat(PosixFilePermissions.toString(after.permissions())).isEqualTo("rw-r-----");
        assertThat(after.fileKey()).isNotEqualTo(before.fileKey());
        assertThat(beside).doesNotExist();
    }

    @Test
    void a_link_to_a_rewritten_file_stays() throws IOException {
        Path link = folder.resolve("link");
        Files.writeString(file, "before");
        Files.createSymbolicLink(link, Path.of("key"));
        AtomicFile.rewrite(link, CONTENT);
        assertThat(link).isSymbolicLink();
        assertThat(file).hasBinaryContent(CONTENT);
        assertThatThrownBy(() -> AtomicFile.rewrite(folder.resolve("none"), CONTENT))
                .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void without_links_the_name_is_claimed_first_and_free_again_after_a_failure() throws IOException {
        assertThatThrownBy(() -> AtomicFile.claim(file, beside)).isInstanceOf(NoSuchFileException.class);
        assertThat(file).doesNotExist();
        Files.write(beside, CONTENT, java.nio.file.StandardOpenOption.CREATE_NEW);
        Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString("rw-------"));
        AtomicFile.claim(file, beside);
        is_whole_and_alone();
        Files.writeString(beside, "other");
        assertThatThrownBy(() -> AtomicFile.claim(file, beside)).isInstanceOf(FileAlreadyExistsException.class);
        assertThat(file).hasBinaryContent(CONTENT);
    }

    @Test
    void what_cannot_be_looked_at_is_not_called_absent() throws IOException {
        assertThat(AtomicFile.exists(file)).isFalse();
        Files.write(file, CONTENT);
        assertThat(AtomicFile.exists(file)).isTrue();
        Files.delete(file);
        Files.createSymbolicLink(file, file);
        assertThat(Files.exists(file)).isFalse();
        assertThatThrownBy(() -> AtomicFile.exists(file)).isInstanceOf(FileSystemException.class);
        Files.delete(file);
        Path below = file.resolve("folder").resolve("below");
        assertThat(AtomicFile.exists(below)).isFalse();
        Files.createFile(file);
        assertThatThrownBy(() -> AtomicFile.exists(below))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("Not a directory");
    }

    @Test
    void a_link_beside_it_does_not_give_away_what_it_names() throws IOException {
        Path elsewhere = Files.writeString(folder.resolve("elsewhere"), "before");
        Files.createSymbolicLink(beside, elsewhere);
        AtomicFile.replace(file, CONTENT, Files.getOwner(folder));
        is_whole_and_alone();
        assertThat(Files.getOwner(file)).isEqualTo(Files.getOwner(folder));
        assertThat(elsewhere).hasContent("before");
    }
}
