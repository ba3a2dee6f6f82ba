package org.cloister.ctl;

import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code agentctl version}: what this is and what it runs on. */
@Command(name = "version", description = "Prints the version of agentctl and of the Java it runs on.")
final class VersionCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        out.println("agentctl " + BuildVersion.current());
        out.println("java " + Runtime.version() + " (" + System.getProperty("java.home") + ")");
        out.flush();
    }
}
