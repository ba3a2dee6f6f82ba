package org.cloister.host.plan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuestImagesTest {
    private static final String ROOT = "0f".repeat(32);

    @TempDir
    private Path folder;

    private final List<String> read = Collections.synchronizedList(new ArrayList<>());

    private Path first;
    private GuestImages images;

    @BeforeEach
    void install() throws IOException {
        first = image("1.0");
        images = new GuestImages(folder, (file, image) -> {
            read.add(file.name());
            return file.difference(image);
        });
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
    void the_linked_image_is_taken_and_another_one_after_the_link_was_moved() throws Exception {
        link("1.0");
        assertThat(images.current().folder()).isEqualTo(first.toRealPath());
        image("1.1");
        link("1.1");
        assertThat(images.current().manifest().version()).isEqualTo("1.1");
    }

    @Test
    void without_a_link_or_a_file_it_says_what_to_do() throws IOException {
        assertThatThrownBy(images::current)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("agentctl image install");
        link("1.0");
        Files.delete(first.resolve("vmlinuz"));
        assertThatThrownBy(images::current)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("vmlinuz is missing; install the image again");
    }

    @Test
    void a_file_that_was_changed_after_it_was_checked_is_found_whatever_its_times_say() throws Exception {
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

    /** libvirt gives kernel and initrd to the user that it runs QEMU as, and takes them back. */
    @Test
    void of_files_whose_owner_or_mode_was_changed_those_alone_are_read_again() throws Exception {
        link("1.0");
        images.current();
        assertThat(read).containsExactlyInAnyOrder("firmware.bin", "vmlinuz", "initrd.img", "base.squashfs");
        read.clear();
        images.current();
        assertThat(read).isEmpty();
        for (String name : List.of("vmlinuz", "initrd.img")) {
            Files.setPosixFilePermissions(first.resolve(name), PosixFilePermissions.fromString("r--------"));
        }
        images.current();
        assertThat(read).containsExactlyInAnyOrder("vmlinuz", "initrd.img");
        Files.setPosixFilePermissions(first.resolve("vmlinuz"), PosixFilePermissions.fromString("rw-------"));
        Files.writeString(first.resolve("vmlinuz"), "1.0vmlinux");
        assertThatThrownBy(images::current)
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("vmlinuz");
    }

    @Test
    void many_starts_from_a_new_image_read_it_once() throws Exception {
        link("1.0");
        int starts = 8;
        CountDownLatch ready = new CountDownLatch(starts);
        ExecutorService threads = Executors.newFixedThreadPool(starts);
        try {
            List<Future<GuestImage>> found = new ArrayList<>();
            for (int start = 0; start < starts; start++) {
                found.add(threads.submit(() -> {
                    ready.countDown();
                    ready.await();
                    return images.current();
                }));
            }
            for (Future<GuestImage> each : found) {
                assertThat(each.get().folder()).isEqualTo(first.toRealPath());
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(read).containsExactlyInAnyOrder("firmware.bin", "vmlinuz", "initrd.img", "base.squashfs");
    }

    @Test
    void a_start_does_not_wait_for_a_file_of_another_image() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch continued = new CountDownLatch(1);
        GuestImages slow = new GuestImages(folder, (file, image) -> {
            if (image.endsWith("1.0") && file.name().equals("base.squashfs")) {
                reading.countDown();
                try {
                    continued.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return file.difference(image);
        });
        link("1.0");
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<GuestImage> waits = thread.submit(slow::current);
            reading.await();
            image("1.1");
            link("1.1");
            assertThat(slow.current().manifest().version()).isEqualTo("1.1");
            continued.countDown();
            assertThat(waits.get().manifest().version()).isEqualTo("1.0");
        } finally {
            thread.shutdownNow();
        }
    }
}
