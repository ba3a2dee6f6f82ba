package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.protocol.image.ImageFile;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** One flipped byte: seen by the host in any file of the image, and by the guest in whatever it reads of a layer. */
@Tag("scenario")
@Tag("ground")
@ExtendWith(SharedLab.class)
class DamagedImageTest {
    private static final Duration END_LIMIT = Duration.ofMinutes(2);
    private static final String USER_SPACE = "cloister: user space";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void is_refused_by_the_host_wherever_the_byte_is() throws IOException {
        long seed = ScenarioSeed.of("flipped byte");
        Random random = new Random(seed);
        Path image = copy(folder);
        ImageManifest manifest = ImageManifest.load(image);
        assertThat(manifest.differences(image)).isEmpty();
        for (ImageFile file : manifest.files()) {
            long at = (long) (random.nextDouble() * file.size());
            flip(image.resolve(file.name()), at);
            assertThat(manifest.differences(image))
                    .as("%s, byte %d, seed %d", file.name(), at, seed)
                    .singleElement()
                    .asString()
                    .contains(file.name(), "SHA-384");
            flip(image.resolve(file.name()), at);
        }
    }

    @Test
    void does_not_boot_when_the_host_does_not_look(Lab lab) throws IOException {
        Path image = copy(lab.host(1).folder("damaged"));
        ImageManifest manifest = ImageManifest.load(image);
        flip(image.resolve(manifest.layers().get(0).file().name()), 40);
        try (LabVm vm = lab.host(1).boot(LabVmSpec.of("damaged", image))) {
            vm.awaitEnd(END_LIMIT);
            assertThat(vm.console()).contains("dm-verity").doesNotContain(USER_SPACE);
        }
    }

    @Test
    void a_byte_that_is_changed_under_a_running_guest_ends_it_when_it_is_read(Lab lab) throws IOException {
        Path image = copy(lab.host(1).folder("rotten"));
        ImageLayer layer = ImageManifest.load(image).layers().get(0);
        // One that is whole lies behind it.
        long block = (long) (new Random(ScenarioSeed.of("flipped block")).nextDouble() * (layer.dataBlocks() - 1));
        try (LabVm vm = lab.host(1).boot(LabVmSpec.of("rotten", image)).awaitRunner()) {
            flip(image.resolve(layer.file().name()), block * ImageLayer.BLOCK_BYTES + 1);
            vm.succeed(read("", layer, block + 1));
            vm.succeed(read("(sleep 1; %s) >/dev/null 2>&1 &", layer, block));
            vm.awaitEnd(END_LIMIT);
            assertThat(vm.console()).contains(USER_SPACE, "dm-verity device corrupted");
        }
    }

    /** A block as the guest's kernel has checked it, without what it keeps of it. */
    private static String[] read(String around, ImageLayer layer, long block) {
        String line = "dd if=/dev/$(basename $(dirname $(dirname $(grep -lx " + layer.serial()
                + " /sys/block/dm-*/dm/name)))) of=/dev/null iflag=direct count=1 bs=" + ImageLayer.BLOCK_BYTES
                + " skip=" + block;
        return new String[] {"sh", "-c", around.isEmpty() ? line : around.formatted(line)};
    }

    private static Path copy(Path folder) throws IOException {
        Path image = LabHome.fromEnvironment().image("lab").toRealPath();
        Path copy = Files.createDirectory(folder.resolve("image"));
        try (Stream<Path> files = Files.list(image)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        return copy;
    }

    private static void flip(Path file, long at) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(at);
            int old = bytes.read();
            bytes.seek(at);
            bytes.write(old ^ 0x40);
        }
    }
}
