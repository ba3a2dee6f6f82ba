package org.cloister.ctl;

import java.io.IOException;
import org.cloister.ctl.audit.AuditCommand;
import org.cloister.ctl.bridge.BridgeCommand;
import org.cloister.ctl.doctor.DoctorCommand;
import org.cloister.ctl.host.HostCommand;
import org.cloister.ctl.image.ImageCommand;
import org.cloister.ctl.output.OutputFormat;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.ctl.project.ProjectCommand;
import org.cloister.ctl.receipt.ReceiptCommand;
import org.cloister.ctl.relay.RelayCommand;
import org.cloister.ctl.site.SiteCommand;
import org.cloister.ctl.tunnel.TunnelCommand;
import org.cloister.ctl.vm.VmCommand;
import org.cloister.preflight.MachineRole;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.LiveMachine;
import org.cloister.protocol.policy.HostSharing;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Root of the command tree; it does nothing by itself. */
@Command(
        name = "agentctl",
        description = "Manages secure batch jobs on a shared Slurm cluster.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        versionProvider = BuildVersion.class,
        modelTransformer = ExitStatusSection.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            VersionCommand.class,
            DoctorCommand.class,
            ImageCommand.class,
            BridgeCommand.class,
            TunnelCommand.class,
            SiteCommand.class,
            RelayCommand.class,
            ProjectCommand.class,
            ReceiptCommand.class,
            AuditCommand.class,
            HostCommand.class,
            VmCommand.class
        })
public final class Agentctl implements Runnable {
    private final InspectedMachine machine;
    private final ProfileStore profiles;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Print a stack trace with an error.")
    private boolean debug;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    /** Creates the command tree for tools that only inspect options: the man page and completion generators. */
    public Agentctl() {
        this(new LiveMachine(), ProfileStore.ofEnvironment());
    }

    Agentctl(InspectedMachine machine, ProfileStore profiles) {
        this.machine = machine;
        this.profiles = profiles;
    }

    public static void main(String[] args) throws IOException {
        int exit;
        try (LiveMachine machine = new LiveMachine()) {
            exit = new Agentctl(machine, ProfileStore.ofEnvironment())
                    .commandLine()
                    .execute(args);
        }
        System.exit(exit);
    }

    CommandLine commandLine() {
        ErrorReporter errors = new ErrorReporter(this);
        return new CommandLine(this)
                .setParameterExceptionHandler(errors)
                .setExecutionExceptionHandler(errors)
                .registerConverter(OutputFormat.class, new EnumConverter<>(OutputFormat.class))
                .registerConverter(MachineRole.class, new EnumConverter<>(MachineRole.class))
                .registerConverter(HostSharing.class, new EnumConverter<>(HostSharing.class))
                .registerConverter(
                        org.cloister.protocol.identity.CertificateRole.class,
                        new EnumConverter<>(org.cloister.protocol.identity.CertificateRole.class));
    }

    public InspectedMachine machine() {
        return machine;
    }

    /** Returns the profiles of this device's person. */
    public ProfileStore profiles() {
        return profiles;
    }

    boolean debug() {
        return debug;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
