package org.cloister.ctl.receipt;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl receipt}: prints and verifies receipts of tickets from files. */
@Command(
        name = "receipt",
        description = "Prints and verifies receipts of tickets, offline.",
        subcommands = {ReceiptShowCommand.class, ReceiptVerifyCommand.class})
public final class ReceiptCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
