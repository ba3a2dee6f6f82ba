package org.cloister.ctl.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.ctl.CommandRoot;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.relay.RelaySocket;
import org.cloister.preflight.MachineRole;
import org.cloister.preflight.PreflightChecks;
import org.cloister.preflight.PreflightReport;
import org.cloister.preflight.RelaySlurmSettings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code agentctl doctor}: checks whether this machine has what its role needs. */
@Command(
        name = "doctor",
        description = {
            "Checks whether this machine has what Cloister needs, and prints remedies.",
            "Each line is a check: ok, warning or failure, what was found, and after "
                    + "\"mend:\" the command or package that corrects it. A check that cannot be made "
                    + "is a warning with the reason. Nothing is changed."
        })
public final class DoctorCommand implements Callable<Integer> {
    @Option(
            names = "--role",
            paramLabel = "ROLE",
            description = "Role of the machine: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private MachineRole role = MachineRole.HOST;

    @Option(names = "--check", paramLabel = "NAME", description = "Run only this check; may be given more than once.")
    private Set<String> only = new LinkedHashSet<>();

    @Option(names = "--libvirt", paramLabel = "URI", description = "URI of libvirt (default: ${DEFAULT-VALUE}).")
    private String libvirt = "qemu:///system";

    @Option(
            names = "--account",
            paramLabel = "NAME",
            description = "For a relay: an account that a project is charged to; may be given more than "
                    + "once. Without it, agent-relay is asked for the accounts of the projects that it "
                    + "serves, and for its user and partitions.")
    private Set<String> accounts = new LinkedHashSet<>();

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description = "For a relay: the user that submits to Slurm (default: as agent-relay reports, or "
                    + RelaySlurmSettings.DEFAULT_USER + ").")
    private @Nullable String user;

    @Option(
            names = "--partition",
            paramLabel = "NAME",
            description = "For a relay: Slurm's partition for tickets (default: as agent-relay reports, or "
                    + RelaySlurmSettings.DEFAULT_PARTITION + ").")
    private @Nullable String partition;

    @Option(
            names = "--controllers",
            paramLabel = "NAME",
            description = "For a relay: Slurm's partition for controlling VMs (default: as agent-relay "
                    + "reports, or none).")
    private @Nullable String controllers;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private RelaySocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private CommandRoot root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public Integer call() {
        PreflightChecks doctor = new PreflightChecks(role, libvirt, slurm());
        List<String> known = doctor.checkNames();
        for (String name : only) {
            if (!known.contains(name)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "unknown check '" + name + "' for a " + role + "; known: " + String.join(", ", known));
            }
        }
        PreflightReport examination = doctor.examine(root.machine(), only);
        output.print(new DoctorOutput(examination));
        return ExitCode.of(examination.worstSeverity()).code();
    }

    private RelaySlurmSettings slurm() {
        JsonNode status = role == MachineRole.RELAY && accounts.isEmpty() ? queryRelay() : MissingNode.getInstance();
        status.path("projects")
                .forEach(project -> accounts.add(project.path("account").asText()));
        try {
            return new RelaySlurmSettings(
                    user == null ? status.path("user").asText(RelaySlurmSettings.DEFAULT_USER) : user,
                    partition == null
                            ? status.path("partition").asText(RelaySlurmSettings.DEFAULT_PARTITION)
                            : partition,
                    Optional.ofNullable(
                            controllers == null ? status.path("controllers").textValue() : controllers),
                    List.copyOf(accounts));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /**
     * Returns what the relay reports of its projects; nothing while the relay does not run, and the check of accounts
     * then reports that none was given.
     */
    private JsonNode queryRelay() {
        try {
            return socket.ask("/projects");
        } catch (IOException e) {
            return MissingNode.getInstance();
        }
    }
}
