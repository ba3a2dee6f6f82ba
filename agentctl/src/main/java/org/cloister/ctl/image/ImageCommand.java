package org.cloister.ctl.image;

import org.cloister.ctl.CommandRoot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code agentctl image}: commands for guest images, on disk and running. */
@Command(
        name = "image",
        description = "Shows, verifies and installs guest images.",
        subcommands = {
            ImageShowCommand.class,
            ImageVerifyCommand.class,
            ImageInstallCommand.class,
            ImageRunningCommand.class
        })
public final class ImageCommand implements Runnable {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets these before run
    private CommandRoot root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    CommandRoot root() {
        return root;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
