package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Building an image again gives the same image, and what cannot be built says why and leaves nothing. */
@Tag("scenario")
@Tag("ground")
class ImageBuildTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root"));
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final LabHome home = LabHome.fromEnvironment();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** By default our own layers over the base that is kept; with {@code --all} from Debian's packages up. */
    @Test
    @RotatedScenario(7)
    void gives_the_same_bytes_for_the_same_inputs() throws IOException {
        Path cache = Boolean.getBoolean("cloister.sweep.all") ? cacheWithoutBase() : home.cache("image");
        Path again = folder.resolve("again");
        LabCommand.Output build = build(
                "--cache",
                cache.toString(),
                "--out",
                again.toString(),
                "--variant",
                "lab",
                "--layer",
                ROOT.resolve("lab/guest").toString(),
                "--deb",
                deb("cloister-agentctl").toString(),
                "--deb",
                deb("cloister-agent-vm").toString());
        assertThat(build.exit()).as(build.err()).isZero();
        assertThat(ImageManifest.load(again)).isEqualTo(ImageManifest.load(home.image("lab")));
        assertThat(ImageManifest.load(again).differences(home.image("lab"))).isEmpty();
    }

    @Test
    void keeps_a_base_that_is_there_and_makes_no_image_for_it() throws IOException {
        Path cache = home.cache("image");
        LabCommand.Output build = build("--base", "--cache", cache.toString());
        assertThat(build.exit()).as(build.err()).isZero();
        assertThat(build.err()).containsPattern("/base-[0-9a-f]{64}: ready").doesNotContain("base: install");
        try (Stream<Path> left = Files.list(cache)) {
            assertThat(left.map(file -> file.getFileName().toString()))
                    .allMatch(name -> name.matches("lock|debs|base-[0-9a-f]{64}"));
        }
        LabCommand.Output both =
                build("--base", "--out", folder.resolve("image").toString());
        assertThat(both.exit()).isNotZero();
        assertThat(both.err()).contains("a base is made in the cache alone");
    }

    @Test
    void refuses_a_layer_that_would_change_what_is_verified() throws IOException {
        Path layer = Files.createDirectory(folder.resolve("layer"));
        Files.writeString(layer.resolve("name"), "extra\n");
        Files.writeString(layer.resolve("cmdline"), "cloister.layer=base,1," + "0".repeat(64));
        LabCommand.Output build = build("--out", folder.resolve("image").toString(), "--layer", layer.toString());
        assertThat(build.exit()).isNotZero();
        assertThat(build.err()).contains("cloister.layer= words are the build's own");
        assertThat(folder.resolve("image")).doesNotExist();
    }

    @Test
    void names_the_package_of_a_missing_tool() throws IOException {
        Path tools = Files.createDirectory(folder.resolve("bin"));
        try (Stream<Path> all = Files.list(Path.of("/usr/bin"))) {
            for (Path tool : all.filter(tool -> !tool.endsWith("mksquashfs")).toList()) {
                Files.createSymbolicLink(tools.resolve(tool.getFileName()), tool);
            }
        }
        LabCommand.Output build = LabCommand.of(
                        tool(), "--out", folder.resolve("image").toString())
                .with(Map.of("PATH", tools + ":/usr/sbin:/sbin"))
                .run();
        assertThat(build.exit()).isNotZero();
        assertThat(build.err()).contains("missing tools: mksquashfs", "apt-get install squashfs-tools");
    }

    private static LabCommand.Output build(String... options) throws IOException {
        List<String> argv = new ArrayList<>(List.of(tool()));
        argv.addAll(List.of(options));
        return LabCommand.of(argv).within(LIMIT).run();
    }

    private static String tool() {
        return ROOT.resolve("packaging/image/build").toString();
    }

    private static Path deb(String name) throws IOException {
        try (Stream<Path> files = Files.list(ROOT.resolve("packaging/target"))) {
            return files.filter(file -> file.getFileName().toString().matches(name + "_.*\\.deb"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private Path cacheWithoutBase() throws IOException {
        Path cache = folder.resolve("cache");
        Files.createDirectories(cache);
        LabCommand.of("cp", "-a", home.cache("image").resolve("debs").toString(), cache.toString())
                .within(LIMIT)
                .succeed();
        return cache;
    }
}
