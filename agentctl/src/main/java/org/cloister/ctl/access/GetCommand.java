package org.cloister.ctl.access;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.protocol.identity.Role;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl project get}. */
@Command(
        name = "get",
        description =
                "Copies files and folders out of the project, by sftp from its controlling VM. The role exporter is needed, and the project records each file.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class GetCommand implements Callable<Integer> {
    @Mixin
    private VmOptions vm;

    @Parameters(
            paramLabel = "SRC... DEST",
            arity = "2..*",
            description = "From: In the VM; a folder with all below it. To: Here.")
    private List<String> paths;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return Transfer.run(vm, Role.EXPORTER, "get", paths);
    }
}
