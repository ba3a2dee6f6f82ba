package org.cloister.ctl.host;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl host stop}: stops one VM. */
@Command(
        name = "stop",
        description = "Stops a VM: asks its guest to power off, and ends it by force if it does not. "
                + "The VM's Global job ends too. Returns when the request is recorded.")
final class HostStopCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "VM",
            converter = VmNameOption.class,
            description = "A VM's name as in agentctl host vms, or its UUID.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private String vm;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private HostSocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        socket.ask(HostSocket.request("stop").put("vm", vm));
        output.print(new KeyValueOutput().with("vm", vm).with("state", "ending"));
        return ExitCode.OK.code();
    }
}
