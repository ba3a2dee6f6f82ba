package org.cloister.ctl.ssh;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.circuit.CircuitOptions;
import org.cloister.ctl.circuit.StandardStreams;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Options that select the project's controlling VM and the circuit to it. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
final class ControllerVmOptions {
    @Mixin
    private CircuitOptions circuits;

    @Option(
            names = "--drive",
            paramLabel = "NAME",
            defaultValue = "main",
            description = "The drive whose controlling VM is meant; default: ${DEFAULT-VALUE}.")
    private String drive;

    @Option(
            names = "--vm",
            paramLabel = "NAME",
            description = "The VM's full name, instead of the one that follows from its drive.")
    private @Nullable String vm;

    @Spec(Target.MIXEE)
    private CommandSpec spec;

    /** Connects standard input and output to sshd until both directions have ended. */
    void connect(CertificateRole role) throws IOException, InterruptedException {
        StandardStreams streams = new StandardStreams(System.in, System.out);
        ProjectHistory owners = circuits.owners();
        CertificateName to = name(owners);
        Path known = knownHosts(owners, to);
        AccessAnswerReader answerReader = new AccessAnswerReader(
                granted -> AtomicFile.replace(
                        known, (to + " " + granted.hostKey() + "\n").getBytes(StandardCharsets.US_ASCII)),
                streams);
        circuits.open(to, role, answerReader, circuit -> {
            answerReader.awaitGrant();
            streams.awaitEnd();
        });
    }

    /** Returns the login name that the VM assigns to this person; the circuit is used for nothing else. */
    String queryLogin(CertificateRole role) throws IOException, InterruptedException {
        List<String> logins = new ArrayList<>();
        AccessAnswerReader answerReader =
                new AccessAnswerReader(granted -> logins.add(granted.login()), (pipeline, circuit) -> {});
        circuits.open(name(circuits.owners()), role, answerReader, circuit -> {
            answerReader.awaitGrant();
            circuit.shutdownOutput().sync();
        });
        return logins.get(0);
    }

    SshHostBlock hostBlock(CertificateRole role, String login) throws IOException {
        ProjectHistory owners = circuits.owners();
        CertificateName to = name(owners);
        List<String> proxy = new ArrayList<>(List.of("agentctl", "project", "connect"));
        proxy.addAll(circuits.toArguments());
        proxy.addAll(List.of("--vm", to.toString(), "--role", role.toString()));
        return new SshHostBlock(
                to,
                login,
                circuits.login(owners).key(role).toAbsolutePath(),
                knownHosts(owners, to).toAbsolutePath(),
                proxy);
    }

    private Path knownHosts(ProjectHistory owners, CertificateName to) throws IOException {
        return circuits.login(owners).path().resolve("known_hosts-" + to.id());
    }

    private CertificateName name(ProjectHistory owners) {
        try {
            return vm == null
                    ? new CertificateName(drive, CertificateRole.CONTROLLER.toString(), owners.id())
                    : CertificateName.parse(vm);
        } catch (MalformedException | IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), (vm == null ? "--drive: " : "--vm: ") + e.getMessage(), e);
        }
    }
}
