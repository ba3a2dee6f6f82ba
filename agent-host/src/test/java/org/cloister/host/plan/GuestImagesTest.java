package org.cloister.host.plan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuestImagesTest {
    private static final String ROOT = "0f".repeat(32);

    @TempDir
    private Path folder;

    private Path first;
    private GuestImages images;

    @BeforeEach
    void install() throws IOException {
        first = image("1.0");
        images = new GuestImages(folder);
    }

    /** Of files of one line each. */
    private Path image(String version) throws IOException {
        Path image = Files.createDirectory(folder.resolve(version));
        String line = "panic=-1 cloister.layer=base,4096," + ROOT;
        String identity = Digest.sha384("cloister-image-v1\n"
                        + "firmware " + file(image, "firmware.bin", version) + "\n"
                        + "kernel " + file(image, "vmlinuz", version) + "\n"
                        + "initrd " + file(image, "initrd.img", version) + "\n"
                        + "cmdline " + Digest.sha384(line) + "\n")
                .hex();
        file(image, "base.squashfs", version);
        Files.writeString(image.resolve("manifest.json"), """
                {"format":"cloister-image-v1","variant":"lab","version":"%s","identity":"%s",
                 "firmware":%s,"kernel":%s,"initrd":%s,"cmdline":"%s",
                 "layers":[{"name":"base",%s,"dataBlocks":4096,"rootHash":"%s"}]}
                """.formatted(
                        version,
                        identity,
                        json(image, "firmware.bin", ""),
                        json(image, "vmlinuz", ",\"release\":\"6.1.0\""),
                        json(image, "initrd.img", ""),
                        line,
                        inner(image, "base.squashfs"),
                        ROOT));
        return image;
    }

    private static Digest file(Path image, String name, String content) throws IOException {
        Files.writeString(image.resolve(name), content + name);
        return Digest.sha384(image.resolve(name));
    }

    private static String json(Path image, String name, String more) throws IOException {
        return "{" + inner(image, name) + more + "}";
    }

    private static String inner(Path image, String name) throws IOException {
        Path file = image.resolve(name);
        return "\"file\":\"" + name + "\",\"size\":" + Files.size(file) + ",\"sha384\":\""
                + Digest.sha384(file).hex() + "\"";
    }

    private void link(String version) throws IOException {
        Files.deleteIfExists(folder.resolve("current"));
        Files.createSymbolicLink(folder.resolve("current"), Path.of(version));
    }

    @Test
    void the_linked_image_is_taken_and_another_one_after_the_link_was_moved() throws IOException {
        link("1.0");
        assertThat(images.current().folder()).isEqualTo(first.toRealPath());
        image("1.1");
        link("1.1");
        assertThat(images.current().manifest().version()).isEqualTo("1.1");
    }

    @Test
    void without_a_link_or_a_file_it_says_what_to_do() throws IOException {
        assertThatThrownBy(images::current).isInstanceOf(IOException.class).hasMessageContaining("ln -s");
        link("1.0");
        Files.delete(first.resolve("vmlinuz"));
        assertThatThrownBy(images::current)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("vmlinuz is missing; install the image again");
    }

    @Test
    void a_file_that_was_changed_after_it_was_checked_is_found_whatever_its_times_say() throws IOException {
        link("1.0");
        images.current();
        Path layer = first.resolve("base.squashfs");
        FileTime before = Files.getLastModifiedTime(layer);
        byte[] bytes = Files.readAllBytes(layer);
        bytes[0] ^= 1;
        Files.write(layer, bytes);
        Files.setLastModifiedTime(layer, before);
        assertThatThrownBy(images::current)
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("base.squashfs");
        bytes[0] ^= 1;
        Files.write(layer, bytes);
        assertThat(images.current().folder()).isEqualTo(first.toRealPath());
        assertThat(new String(bytes, UTF_8)).isEqualTo("1.0base.squashfs");
    }
}
