package org.cloister.ctl.ssh;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl project get}: copies files out of the project. */
@Command(
        name = "get",
        description = "Copies files and folders out of the project, by sftp from its controlling VM. "
                + "Needs the role exporter; the project records each file.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectGetCommand implements Callable<Integer> {
    @Mixin
    private ControllerVmOptions vm;

    @Parameters(
            paramLabel = "SRC... DEST",
            arity = "2..*",
            description = "From: In the VM; a folder with all below it. To: Here.")
    private List<String> paths;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return SftpTransfer.run(vm, CertificateRole.EXPORTER, "get", paths);
    }
}
