package org.cloister.ctl.project;

import org.cloister.ctl.access.ConnectCommand;
import org.cloister.ctl.access.GetCommand;
import org.cloister.ctl.access.PutCommand;
import org.cloister.ctl.access.SshConfigCommand;
import org.cloister.ctl.circuit.CircuitCommand;
import org.cloister.ctl.circuit.QuotaCommand;
import org.cloister.ctl.drive.DriveKeyCommand;
import org.cloister.ctl.opening.CloseCommand;
import org.cloister.ctl.opening.OpenCommand;
import org.cloister.ctl.opening.StatusCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl project}: on the devices of its people. */
@Command(
        name = "project",
        description = "Makes and signs a project's documents, certifies its people and VMs, and reaches them.",
        subcommands = {
            ProjectKeyCommand.class,
            DriveKeyCommand.class,
            ProjectCreateCommand.class,
            ProjectSignCommand.class,
            ProjectShowCommand.class,
            ProjectRequestCommand.class,
            ProjectMemberCommand.class,
            ProjectControllerCommand.class,
            ProjectLoginCommand.class,
            ProjectRevokeCommand.class,
            ProjectPolicyCommand.class,
            CircuitCommand.class,
            ConnectCommand.class,
            SshConfigCommand.class,
            PutCommand.class,
            GetCommand.class,
            QuotaCommand.class,
            OpenCommand.class,
            CloseCommand.class,
            StatusCommand.class
        })
public final class ProjectCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
