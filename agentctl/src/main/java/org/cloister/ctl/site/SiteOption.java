package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.ctl.key.SigningKeyOptions;
import picocli.CommandLine.Option;

/** Option that selects the site CA's folder. */
final class SiteOption {
    /** The folder that cloister-site-serve.service may write to without a drop-in. */
    static final String DEFAULT = "/var/lib/cloister/site";

    @Option(
            names = "--site",
            paramLabel = "DIR",
            defaultValue = DEFAULT,
            description = "The CA's folder, on a machine that is no relay; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path folder;

    Path folder() {
        return folder;
    }

    SiteCaFolder open(SigningKeyOptions keys) throws IOException {
        return SiteCaFolder.open(folder, keys);
    }
}
