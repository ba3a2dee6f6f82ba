package org.cloister.ctl.ssh;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl project put}: copies files into the project. */
@Command(name = "put", description = "Copies files and folders into the project, by sftp to its controlling VM.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectPutCommand implements Callable<Integer> {
    @Mixin
    private ControllerVmOptions vm;

    @Parameters(
            paramLabel = "SRC... DEST",
            arity = "2..*",
            description = "From: Here; a folder with all below it. To: In the VM; the home folder is where a relative "
                    + "one begins.")
    private List<String> paths;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return SftpTransfer.run(vm, CertificateRole.MEMBER, "put", paths);
    }
}
