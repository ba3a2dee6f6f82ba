package org.cloister.ctl;

import org.cloister.ctl.output.OutputFormat;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.preflight.MachineRole;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.policy.HostSharing;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Root of a command tree, with what its commands share; it does nothing by itself. */
@Command(
        name = "agentctl",
        description = "Manages secure batch jobs on a shared Slurm cluster.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        versionProvider = BuildVersion.class,
        modelTransformer = ExitStatusSection.class,
        synopsisSubcommandLabel = "COMMAND")
public class CommandRoot implements Runnable {
    private final InspectedMachine machine;
    private final ProfileStore profiles;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Print a stack trace with an error.")
    private boolean debug;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    CommandRoot(InspectedMachine machine, ProfileStore profiles) {
        this.machine = machine;
        this.profiles = profiles;
    }

    /** Returns the tree of this root's class, and these commands in addition. */
    final CommandLine commandLine(Class<?>... commands) {
        CommandLine line = new CommandLine(this);
        for (Class<?> command : commands) {
            line.addSubcommand(command);
        }
        // picocli transforms the annotated tree alone.
        new ExitStatusSection().transform(line.getCommandSpec());
        ErrorReporter errors = new ErrorReporter(this);
        return line.setParameterExceptionHandler(errors)
                .setExecutionExceptionHandler(errors)
                .registerConverter(OutputFormat.class, new EnumConverter<>(OutputFormat.class))
                .registerConverter(MachineRole.class, new EnumConverter<>(MachineRole.class))
                .registerConverter(HostSharing.class, new EnumConverter<>(HostSharing.class))
                .registerConverter(CertificateRole.class, new EnumConverter<>(CertificateRole.class));
    }

    public final InspectedMachine machine() {
        return machine;
    }

    /** Returns the profiles of this device's person. */
    public final ProfileStore profiles() {
        return profiles;
    }

    final boolean debug() {
        return debug;
    }

    @Override
    public final void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
