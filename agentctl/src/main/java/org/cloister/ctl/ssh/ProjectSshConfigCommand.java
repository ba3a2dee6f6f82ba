package org.cloister.ctl.ssh;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.protocol.identity.CertificateRole;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code agentctl project ssh-config}: prints the configuration for ssh, sftp and rsync. */
@Command(
        name = "ssh-config",
        description = "Prints a Host block for ssh_config, by which ssh, sftp and rsync reach the "
                + "project's controlling VM and accept only the host key that the circuit delivers; with "
                + "--install, puts it into ~/.ssh/config.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectSshConfigCommand implements Callable<Integer> {
    @Mixin
    private ControllerVmOptions vm;

    @Mixin
    private AccessRoleOption role;

    @Option(
            names = "--host",
            paramLabel = "ALIAS",
            defaultValue = "cloister",
            description = "Host name of the VM for ssh; default: ${DEFAULT-VALUE}.")
    private String alias;

    @Option(
            names = "--user",
            paramLabel = "LOGIN",
            description = "The person's user name in the VM; default: the one that the VM reports.")
    private @Nullable String user;

    @Option(
            names = "--install",
            description = "Put the block at the end of ~/.ssh/config, or in the place of the block of the same project "
                    + "and host, and print the file's name instead. Makes the file and its folder if they are "
                    + "missing. Follows a link.")
    private boolean install;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        CertificateRole as = role.requireAccessRole();
        String login = user == null ? vm.queryLogin(as) : user;
        SshHostBlock host = vm.hostBlock(as, login);
        PrintWriter out = spec.commandLine().getOut();
        if (install) {
            SshConfigBlock block = new SshConfigBlock(host.vm().project(), alias, host.render(alias));
            out.println(SshConfigFile.ofUser().install(block));
        } else {
            out.print(host.render(alias));
        }
        out.flush();
        return ExitCode.OK.code();
    }
}
