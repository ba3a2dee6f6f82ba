package org.cloister.ctl.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.base.file.ExclusiveLock;
import org.cloister.ctl.Cli;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code image install}, with images of a few bytes. */
class InstalledImagesTest {
    private static final Path WHOLE = Path.of("src/test/resources/images/whole");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Cli cli;

    @SuppressWarnings("NullAway.Init")
    private String identity;

    @BeforeEach
    void setUp() throws IOException {
        cli = new Cli(folder, "none");
        identity = ImageManifest.load(WHOLE).identity().hex();
    }

    @AfterEach
    void tearDown() throws IOException {
        cli.close();
    }

    private Path images(String... names) {
        Path images = folder.resolve("images");
        for (String name : names) {
            images = images.resolve(name);
        }
        return images;
    }

    private Cli.Result install(Path image, String... more) throws IOException {
        return cli.run(Stream.concat(
                        Stream.of("image", "install", image.toString(), "--images", images().toString()),
                        Stream.of(more))
                .toArray(String[]::new));
    }

    private String done(Path image, String... more) throws IOException {
        Cli.Result result = install(image, more);
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result.out();
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .sorted()
                    .toList();
        }
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void an_image_is_below_its_identity_readable_for_all_and_the_current_one() throws IOException {
        Path source = folder.resolve("built");
        copy(WHOLE, source);
        Files.writeString(source.resolve("build.log"), "not in the manifest");
        Files.setPosixFilePermissions(source.resolve("vmlinuz"), PosixFilePermissions.fromString("rw-------"));
        assertThat(done(source)).contains(identity, "installed", "current   " + identity);
        assertThat(names(images())).containsExactly(".lock", identity, "current");
        assertThat(Files.readSymbolicLink(images("current"))).isEqualTo(Path.of(identity));
        assertThat(names(images(identity))).isEqualTo(names(WHOLE));
        assertThat(mode(images())).isEqualTo("rwxr-xr-x");
        assertThat(mode(images(identity))).isEqualTo("rwxr-xr-x");
        for (String name : names(images(identity))) {
            assertThat(images(identity, name)).hasSameBinaryContentAs(WHOLE.resolve(name));
            assertThat(mode(images(identity, name))).as(name).isEqualTo("rw-r--r--");
            assertThat(Files.getOwner(images(identity, name))).isEqualTo(Files.getOwner(Path.of("/proc/self")));
        }
    }

    @Test
    void installing_it_again_writes_no_file_and_mends_permissions() throws IOException {
        done(WHOLE);
        Path layer = images(identity, "base.squashfs");
        Path kernel = images(identity, "vmlinuz");
        Object inode = Files.getAttribute(layer, "unix:ino");
        Object changed = Files.getAttribute(kernel, "unix:ctime");
        Files.setPosixFilePermissions(layer, PosixFilePermissions.fromString("rw-------"));
        assertThat(done(WHOLE)).contains("already installed");
        assertThat(Files.getAttribute(layer, "unix:ino")).isEqualTo(inode);
        assertThat(mode(layer)).isEqualTo("rw-r--r--");
        assertThat(Files.getAttribute(kernel, "unix:ctime"))
                .as("agent-host would read it again")
                .isEqualTo(changed);
        // From its place, such as to go back to it.
        assertThat(done(images("current"))).contains("already installed");
    }

    @Test
    void the_link_is_moved_from_another_image_or_stays_if_asked() throws IOException {
        Files.createDirectories(images("other"));
        Files.createSymbolicLink(images("current"), Path.of("other"));
        assertThat(done(WHOLE, "--keep-current")).contains("current   other");
        assertThat(images(identity)).isDirectory();
        assertThat(done(WHOLE)).contains("current   " + identity);
        assertThat(Files.readSymbolicLink(images("current"))).isEqualTo(Path.of(identity));
    }

    @Test
    void without_a_link_nothing_is_current() throws IOException {
        assertThat(done(WHOLE, "--keep-current")).contains("current   none");
        assertThat(images("current")).doesNotExist();
    }

    @Test
    void a_folder_in_place_of_the_link_stays_and_is_named() throws IOException {
        Files.createDirectories(images("current", "mine"));
        Cli.Result result = install(WHOLE);
        assertThat(result.status()).isEqualTo(2);
        assertThat(result.err()).contains("current: want a symbolic link", "--keep-current");
        assertThat(images("current", "mine")).exists();
    }

    @Test
    void a_damaged_image_is_not_installed_and_what_is_current_stays() throws IOException {
        Files.createDirectories(images("other"));
        Files.createSymbolicLink(images("current"), Path.of("other"));
        for (String damaged : List.of("differs", "contradicts")) {
            Cli.Result result = install(WHOLE.resolveSibling(damaged));
            assertThat(result.status()).as(damaged).isEqualTo(2);
            assertThat(result.out()).isEmpty();
        }
        assertThat(names(images())).containsExactly(".lock", "current", "other");
        assertThat(Files.readSymbolicLink(images("current"))).isEqualTo(Path.of("other"));
    }

    @Test
    void an_installed_image_that_was_damaged_is_replaced() throws IOException {
        done(WHOLE);
        Path layer = images(identity, "base.squashfs");
        byte[] bytes = Files.readAllBytes(layer);
        bytes[0] ^= 1;
        Files.write(layer, bytes);
        assertThat(done(WHOLE)).contains("state     installed");
        assertThat(layer).hasSameBinaryContentAs(WHOLE.resolve("base.squashfs"));
        Files.writeString(images(identity, "manifest.json"), "{");
        assertThat(done(WHOLE)).contains("state     installed");
        assertThat(names(images())).containsExactly(".lock", identity, "current");
    }

    @Test
    void what_a_killed_run_left_is_no_image_and_is_removed() throws IOException {
        String unfinished = "." + identity + ".new";
        Files.createDirectories(images(unfinished));
        Files.writeString(images(unfinished, "vmlinuz"), "a part");
        Files.createDirectories(images("." + "0f".repeat(48) + ".old"));
        Files.createSymbolicLink(images(".current.new"), Path.of("nowhere"));
        Files.createDirectories(images(".snapshot"));
        Files.writeString(images("notes.new"), "somebody's");
        done(WHOLE);
        assertThat(names(images())).containsExactly(".lock", ".snapshot", identity, "current", "notes.new");
    }

    @Test
    void a_link_in_the_images_place_is_replaced_and_not_followed() throws IOException {
        Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
        Files.createDirectories(images());
        Files.createSymbolicLink(images(identity), elsewhere);
        done(WHOLE);
        assertThat(Files.isDirectory(images(identity), LinkOption.NOFOLLOW_LINKS))
                .isTrue();
        assertThat(names(elsewhere)).isEmpty();
    }

    @Test
    void one_process_at_a_time_installs() throws IOException {
        Files.createDirectories(images());
        try (ExclusiveLock lock = ExclusiveLock.acquire(images(".lock"), "test")) {
            assertThat(lock).isNotNull();
            assertThat(install(WHOLE).err()).contains("another process has locked it");
        }
        done(WHOLE);
    }
}
