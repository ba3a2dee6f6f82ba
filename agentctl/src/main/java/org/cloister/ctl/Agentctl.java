package org.cloister.ctl;

import java.io.IOException;
import java.util.Map;
import org.cloister.ctl.audit.AuditCommand;
import org.cloister.ctl.bridge.BridgeCommand;
import org.cloister.ctl.doctor.DoctorCommand;
import org.cloister.ctl.host.HostCommand;
import org.cloister.ctl.image.ImageCommand;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.ctl.project.ProjectCommand;
import org.cloister.ctl.receipt.ReceiptCommand;
import org.cloister.ctl.relay.RelayCommand;
import org.cloister.ctl.site.SiteCommand;
import org.cloister.ctl.tunnel.TunnelCommand;
import org.cloister.ctl.vm.VmCommand;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.LiveMachine;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The whole command tree. */
@Command(
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
public final class Agentctl extends CommandRoot {
    /** Commands below the root by their names. */
    static final Map<String, Class<?>> COMMANDS = Map.ofEntries(
            Map.entry("version", VersionCommand.class),
            Map.entry("doctor", DoctorCommand.class),
            Map.entry("image", ImageCommand.class),
            Map.entry("bridge", BridgeCommand.class),
            Map.entry("tunnel", TunnelCommand.class),
            Map.entry("site", SiteCommand.class),
            Map.entry("relay", RelayCommand.class),
            Map.entry("project", ProjectCommand.class),
            Map.entry("receipt", ReceiptCommand.class),
            Map.entry("audit", AuditCommand.class),
            Map.entry("host", HostCommand.class),
            Map.entry("vm", VmCommand.class));

    /** Creates the command tree for tools that only inspect options: the man page and completion generators. */
    public Agentctl() {
        this(new LiveMachine(), ProfileStore.ofEnvironment());
    }

    Agentctl(InspectedMachine machine, ProfileStore profiles) {
        super(machine, profiles);
    }

    public static void main(String[] args) throws IOException {
        int exit;
        try (LiveMachine machine = new LiveMachine()) {
            exit = commandLine(machine, ProfileStore.ofEnvironment(), args).execute(args);
        }
        System.exit(exit);
    }

    /**
     * Returns what these arguments need of the tree: the one command below the root that they begin with, or else all.
     * The 75 commands of the tree take most of the time of a short call.
     */
    static CommandLine commandLine(InspectedMachine machine, ProfileStore profiles, String... args) {
        Class<?> command = args.length == 0 ? null : COMMANDS.get(args[0]);
        return command == null
                ? new Agentctl(machine, profiles).commandLine()
                : new CommandRoot(machine, profiles).commandLine(command);
    }
}
