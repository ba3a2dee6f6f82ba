package org.cloister.ctl.project;

import org.cloister.ctl.circuit.ProjectCircuitCommand;
import org.cloister.ctl.drive.ProjectDriveKeyCommand;
import org.cloister.ctl.opening.ProjectCloseCommand;
import org.cloister.ctl.opening.ProjectOpenCommand;
import org.cloister.ctl.opening.ProjectStatusCommand;
import org.cloister.ctl.ssh.ProjectConnectCommand;
import org.cloister.ctl.ssh.ProjectGetCommand;
import org.cloister.ctl.ssh.ProjectPutCommand;
import org.cloister.ctl.ssh.ProjectSshConfigCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl project}: commands for the devices of a project's people. */
@Command(
        name = "project",
        description = "Makes and signs a project's documents, certifies its people and VMs, and connects to its VMs.",
        subcommands = {
            ProjectKeyCommand.class,
            ProjectDriveKeyCommand.class,
            ProjectCreateCommand.class,
            ProjectSignCommand.class,
            ProjectShowCommand.class,
            ProjectRequestCommand.class,
            ProjectMemberCommand.class,
            ProjectInviteCommand.class,
            ProjectJoinCommand.class,
            ProjectListCommand.class,
            ProjectControllerCommand.class,
            ProjectLoginCommand.class,
            ProjectRevokeCommand.class,
            ProjectPolicyCommand.class,
            ProjectCircuitCommand.class,
            ProjectConnectCommand.class,
            ProjectSshConfigCommand.class,
            ProjectPutCommand.class,
            ProjectGetCommand.class,
            ProjectQuotaCommand.class,
            ProjectOpenCommand.class,
            ProjectCloseCommand.class,
            ProjectStatusCommand.class
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
