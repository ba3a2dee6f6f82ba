package org.cloister.ctl.ssh;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl project connect}: connects ssh to the controlling VM, as a ProxyCommand. */
@Command(
        name = "connect",
        description = "Connects standard input and output to sshd in the project's controlling VM "
                + "through a circuit; for ssh's ProxyCommand. Stores the VM's host key, as received "
                + "on the circuit, in the login's folder.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectConnectCommand implements Callable<Integer> {
    @Mixin
    private ControllerVmOptions vm;

    @Mixin
    private AccessRoleOption role;

    @Override
    public Integer call() throws IOException, InterruptedException {
        CertificateRole as = role.requireAccessRole();
        vm.connect(as);
        return ExitCode.OK.code();
    }
}
