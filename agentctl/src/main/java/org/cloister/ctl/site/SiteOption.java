package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.ctl.key.SigningKeyOptions;
import picocli.CommandLine.Option;

/** Option that selects the site CA's folder. */
final class SiteOption {
    @Option(
            names = "--site",
            paramLabel = "DIR",
            required = true,
            description = "The CA's folder, on a machine that is no relay.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path folder;

    Path folder() {
        return folder;
    }

    SiteCaFolder open(SigningKeyOptions keys) throws IOException {
        return SiteCaFolder.open(folder, keys);
    }
}
