package org.cloister.ctl.circuit;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.ExitCode;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code agentctl project circuit}: passes standard input and output through a circuit, as a ProxyCommand for OpenSSH.
 * The relay sees only sizes and times.
 */
@Command(
        name = "circuit",
        description = "Connects standard input and output to a VM of the project through a circuit; for "
                + "ssh's ProxyCommand.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectCircuitCommand implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", description = "The VM's name: ID.ROLE.PROJECT.cloister.internal.")
    private String target;

    @Mixin
    private CircuitOptions circuits;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            defaultValue = "member",
            description = "Your role: owner, opener, member or exporter; default: ${DEFAULT-VALUE}.")
    private CertificateRole role;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        StandardStreams streams = new StandardStreams(System.in, System.out);
        circuits.open(name("NAME", target), role, streams, circuit -> streams.awaitEnd());
        return ExitCode.OK.code();
    }

    private CertificateName name(String option, String text) {
        try {
            return CertificateName.parse(text);
        } catch (MalformedException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }
}
