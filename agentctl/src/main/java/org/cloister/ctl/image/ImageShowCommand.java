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

/** {@code agentctl image show}: prints the contents of a manifest. */
@Command(
        name = "show",
        description = "Prints an image's manifest, after checking that it is consistent; reads no other file.")
final class ImageShowCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", description = "The image's folder, with manifest.json in it.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private Path folder;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        output.print(new ImageSummary(ImageManifest.load(folder)));
        return ExitCode.OK.code();
    }
}
