package org.cloister.ctl.audit;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl audit}: verifies and shows audit logs from files, without a connection to the relay. */
@Command(
        name = "audit",
        description = "Verifies and prints audit logs. Works offline, on files.",
        subcommands = {AuditVerifyCommand.class, AuditShowCommand.class})
public final class AuditCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
