package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The image that is shipped has nothing of the lab's, and is another one. */
@Tag("scenario")
@Tag("ground")
class ProductionImageTest {
    private final LabHome home = LabHome.fromEnvironment();

    @Test
    void has_no_guest_runner_in_any_layer() throws IOException {
        Path image = home.image("production");
        assertThat(listing(home.image("lab"))).contains("cloister-lab");
        assertThat(listing(image)).doesNotContain("cloister-lab");
    }

    @Test
    void has_no_console_and_no_lab_layer_on_its_command_line() throws IOException {
        ImageManifest production = ImageManifest.load(home.image("production"));
        assertThat(production.layers()).extracting(ImageLayer::name).containsExactly("base", "cloister");
        assertThat(production.commandLine()).doesNotContain("console=", "mitigations=", "lab");
        assertThat(production.identity())
                .isNotEqualTo(ImageManifest.load(home.image("lab")).identity());
    }

    private static String listing(Path image) throws IOException {
        StringBuilder listing = new StringBuilder();
        for (ImageLayer layer : ImageManifest.load(image).layers()) {
            listing.append(LabCommand.of(
                            "unsquashfs",
                            "-l",
                            image.resolve(layer.file().name()).toString())
                    .succeed());
        }
        return listing.toString();
    }
}
