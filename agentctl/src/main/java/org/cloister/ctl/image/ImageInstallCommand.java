package org.cloister.ctl.image;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.image.ImageManifest;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl image install}: installs an image on a host. */
@Command(
        name = "install",
        description = "Installs an image on this host, as root: verifies it, copies it to the folder of images below "
                + "its identity, verifies the copy, and makes it the current one, from which new VMs boot.")
final class ImageInstallCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", description = "The image's folder, with manifest.json in it.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private Path source;

    @Option(
            names = "--images",
            paramLabel = "DIR",
            defaultValue = "/var/lib/cloister/images",
            description = "The host's folder of images, as images in agent-host.toml; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private Path images;

    @Option(names = "--keep-current", description = "Leave the current image as it is.")
    private boolean keepCurrent;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ImageManifest manifest = ImageManifest.load(source);
        try (InstalledImages installed = InstalledImages.open(images)) {
            String state = installed.install(source, manifest) ? "installed" : "already installed";
            if (!keepCurrent) {
                installed.makeCurrent(manifest);
            }
            output.print(new KeyValueOutput()
                    .with("identity", manifest.identity().hex())
                    .with("folder", installed.folder(manifest))
                    .with("state", state)
                    .with("current", installed.current().orElse("none")));
        }
        return ExitCode.OK.code();
    }
}
