package org.cloister.ctl;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.ctl.doctor.Doctor;
import org.cloister.ctl.doctor.Examination;
import org.cloister.ctl.doctor.Role;
import org.cloister.ctl.output.OutputOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code agentctl doctor}: whether this machine has what its role needs. */
@Command(
        name = "doctor",
        description = {
            "Checks whether this machine has what Cloister needs, and says what mends it.",
            "Each line is a check: ok, warning or failure, what was found, and after \"mend:\" the command or package that"
                    + " mends it. What cannot be checked is a warning with the reason. Nothing is changed."
        })
final class DoctorCommand implements Callable<Integer> {
    @Option(
            names = "--role",
            paramLabel = "ROLE",
            description = "What the machine is to be: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Role role = Role.HOST;

    @Option(names = "--check", paramLabel = "NAME", description = "Run this check only; can be given again.")
    private Set<String> only = new LinkedHashSet<>();

    @Option(
            names = "--libvirt",
            paramLabel = "URI",
            description = "Where libvirt is to answer (default: ${DEFAULT-VALUE}).")
    private String libvirt = "qemu:///system";

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private Agentctl root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public Integer call() {
        Doctor doctor = new Doctor(role, libvirt);
        List<String> known = doctor.checkNames();
        for (String name : only) {
            if (!known.contains(name)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "unknown check '" + name + "' for a " + role + "; known: " + String.join(", ", known));
            }
        }
        Examination examination = doctor.examine(root.machine(), only);
        output.print(examination);
        return ExitCode.of(examination.worst()).code();
    }
}
