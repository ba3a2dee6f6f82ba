package org.cloister.ctl.image;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.image.ImageManifest;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl image verify}: compares an image's files with its manifest. */
@Command(name = "verify", description = "Reads every file of an image and lists how it differs from the manifest.")
final class ImageVerifyCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", description = "The image's folder, with manifest.json in it.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private Path folder;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ImageManifest manifest = ImageManifest.load(folder);
        ImageVerification verification = new ImageVerification(manifest.identity(), manifest.differences(folder));
        output.print(verification);
        return (verification.passed() ? ExitCode.OK : ExitCode.FAILURE).code();
    }
}
