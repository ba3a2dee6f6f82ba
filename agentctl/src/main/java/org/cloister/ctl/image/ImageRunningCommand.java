package org.cloister.ctl.image;

import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.OutputOption;
import org.cloister.preflight.machine.UndeterminedException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** {@code agentctl image running}: prints the layers of this guest's root file system. */
@Command(
        name = "running",
        description = "In a guest: prints the layers that it runs from, with the root hashes that the "
                + "kernel enforces. Fails if they differ from the kernel's command line or a layer "
                + "is corrupted. Needs root.")
final class ImageRunningCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private ImageCommand image;

    @Override
    public Integer call() throws UndeterminedException {
        RunningImage running = RunningImage.of(image.root().machine());
        output.print(running);
        return (running.isWhole() ? ExitCode.OK : ExitCode.FAILURE).code();
    }
}
