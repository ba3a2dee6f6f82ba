package org.cloister.protocol.image;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code manifest/} has one document a reason for refusing it, with the message beside it, and one that is whole. */
class ImageManifestTest {
    private static final Path FOLDER = Path.of("src/test/resources/manifest");
    private static final int MUTATIONS = 10_000;
    private static final long SEED = 0x5EED_1AB5L;

    private static byte[] whole() throws IOException {
        return Files.readAllBytes(FOLDER.resolve("whole.json"));
    }

    static List<String> broken() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".json") && !name.equals("whole.json"))
                    .map(name -> name.replace(".json", ""))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("broken")
    void refuses_with_the_reason(String name) throws IOException {
        byte[] document = Files.readAllBytes(FOLDER.resolve(name + ".json"));
        MalformedException e = catchThrowableOfType(MalformedException.class, () -> ImageManifest.parse(document));
        assertThat(e).isNotNull();
        assertThat(e.getMessage() + "\n").isEqualTo(Files.readString(FOLDER.resolve(name + ".txt")));
    }

    @Test
    void reads_a_whole_document() throws Exception {
        ImageManifest manifest = ImageManifest.parse(whole());
        assertThat(manifest.variant()).isEqualTo("production");
        assertThat(manifest.kernelRelease()).isEqualTo("6.1.0-40-cloud-amd64");
        assertThat(manifest.layers()).map(ImageLayer::serial).containsExactly("layer-base", "layer-site");
        assertThat(manifest.files())
                .map(ImageFile::name)
                .containsExactly("firmware.bin", "vmlinuz", "initrd.img", "base.squashfs", "site.squashfs");
    }

    @Test
    void refuses_every_truncation_of_a_whole_document() throws Exception {
        byte[] document = new String(whole(), UTF_8).strip().getBytes(UTF_8);
        for (int length = 0; length < document.length; length++) {
            byte[] head = Arrays.copyOf(document, length);
            assertThatThrownBy(() -> ImageManifest.parse(head))
                    .as("the first %d bytes", length)
                    .isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void whatever_mutation_parses_still_has_the_identity_of_its_parts() throws Exception {
        byte[] document = whole();
        Random random = new Random(SEED);
        int parsed = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] mutant = mutate(document, random);
            try {
                ImageManifest manifest = ImageManifest.parse(mutant);
                parsed++;
                assertThat(ImageManifest.identityOf(
                                manifest.firmware().sha384(),
                                manifest.kernel().sha384(),
                                manifest.initrd().sha384(),
                                manifest.commandLine()))
                        .isEqualTo(manifest.identity());
                assertThat(manifest.commandLine())
                        .contains(manifest.layers().stream()
                                .map(ImageLayer::commandLineWord)
                                .toList());
            } catch (MalformedException e) {
                assertThat(e).hasMessageMatching("(?s).+");
            }
        }
        assertThat(parsed).as("seed %x", SEED).isBetween(1, MUTATIONS - 1);
    }

    /** One to three bytes changed, doubled or taken away; a change anywhere but in white space and sizes must be found. */
    private static byte[] mutate(byte[] document, Random random) {
        byte[] mutant = document.clone();
        for (int n = random.nextInt(3); n >= 0; n--) {
            int at = random.nextInt(mutant.length);
            switch (random.nextInt(3)) {
                case 0 -> mutant[at] = (byte) random.nextInt(256);
                case 1 -> mutant = splice(mutant, at, at + 1, new byte[0]);
                default -> mutant = splice(mutant, at, at, new byte[] {mutant[at]});
            }
        }
        return mutant;
    }

    private static byte[] splice(byte[] bytes, int from, int to, byte[] insert) {
        byte[] spliced = new byte[bytes.length - (to - from) + insert.length];
        System.arraycopy(bytes, 0, spliced, 0, from);
        System.arraycopy(insert, 0, spliced, from, insert.length);
        System.arraycopy(bytes, to, spliced, from + insert.length, bytes.length - to);
        return spliced;
    }

    @Test
    void names_the_file_of_a_malformed_manifest(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve(ImageManifest.FILE_NAME), "{}");
        assertThatThrownBy(() -> ImageManifest.load(folder))
                .isInstanceOf(MalformedException.class)
                .hasMessage(folder.resolve("manifest.json") + ": format: missing");
    }

    @Test
    void refuses_a_manifest_beyond_its_limit_without_reading_all_of_it(@TempDir Path folder) throws Exception {
        Files.write(folder.resolve(ImageManifest.FILE_NAME), new byte[10_000_000]);
        assertThatThrownBy(() -> ImageManifest.load(folder))
                .isInstanceOf(MalformedException.class)
                .hasMessageEndingWith("want at most 262144 bytes, have more");
    }

    @Test
    void finds_each_way_in_which_files_differ(@TempDir Path folder) throws Exception {
        ImageManifest manifest = ImageManifest.parse(whole());
        assertThat(manifest.differences(folder)).hasSize(5).allMatch(text -> text.endsWith(": missing"));
        Files.writeString(folder.resolve("firmware.bin"), "firmware\n");
        Files.writeString(folder.resolve("vmlinuz"), "kernel\n");
        Files.writeString(folder.resolve("initrd.img"), "initrd\n");
        Files.writeString(folder.resolve("base.squashfs"), "base\n");
        Files.writeString(folder.resolve("site.squashfs"), "site\n");
        assertThat(manifest.differences(folder)).isEmpty();
        Files.writeString(folder.resolve("vmlinuz"), "kernex\n");
        Files.writeString(folder.resolve("initrd.img"), "initrd longer\n");
        assertThat(manifest.differences(folder))
                .satisfiesExactly(
                        first -> assertThat(first).contains("vmlinuz: manifest says SHA-384 "),
                        second -> assertThat(second).endsWith("initrd.img: manifest says 7 bytes, file has 14"));
    }
}
