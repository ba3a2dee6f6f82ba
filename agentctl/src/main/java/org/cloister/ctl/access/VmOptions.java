package org.cloister.ctl.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.ctl.circuit.CircuitOptions;
import org.cloister.ctl.circuit.StandardStreams;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.WholeFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The project's controlling VM, and the way there. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
final class VmOptions {
    @Mixin
    private CircuitOptions circuits;

    @Option(
            names = "--drive",
            paramLabel = "NAME",
            defaultValue = "main",
            description = "Of which the project's drives the VM runs; default: ${DEFAULT-VALUE}.")
    private String drive;

    @Option(
            names = "--vm",
            paramLabel = "NAME",
            description = "The VM's whole name, in the place of the one that the drive gives it.")
    private @Nullable String vm;

    @Spec(Target.MIXEE)
    private CommandSpec spec;

    /** Standard input and output are SSH's until both sides have said all. */
    void connect(Role role) throws IOException, InterruptedException {
        StandardStreams streams = new StandardStreams(System.in, System.out);
        ProjectHistory owners = circuits.owners();
        Name to = name(owners);
        Path known = knownHosts(owners, to);
        Entrance entrance = new Entrance(
                granted -> WholeFile.replace(
                        known, (to + " " + granted.hostKey() + "\n").getBytes(StandardCharsets.US_ASCII)),
                streams);
        circuits.open(to, role, entrance, circuit -> {
            entrance.await();
            streams.await();
        });
    }

    /** As whom the VM takes this person; nothing more is done in that circuit. */
    String login(Role role) throws IOException, InterruptedException {
        List<String> logins = new ArrayList<>();
        Entrance entrance = new Entrance(granted -> logins.add(granted.login()), (pipeline, circuit) -> {});
        circuits.open(name(circuits.owners()), role, entrance, circuit -> {
            entrance.await();
            circuit.endOutput().sync();
        });
        return logins.get(0);
    }

    SshHost host(Role role, String login) throws IOException {
        ProjectHistory owners = circuits.owners();
        Name to = name(owners);
        List<String> proxy = new ArrayList<>(List.of("agentctl", "project", "connect"));
        proxy.addAll(circuits.words());
        proxy.addAll(List.of("--vm", to.toString(), "--role", role.toString()));
        return new SshHost(
                to,
                login,
                circuits.login(owners).key(role).toAbsolutePath(),
                knownHosts(owners, to).toAbsolutePath(),
                proxy);
    }

    private Path knownHosts(ProjectHistory owners, Name to) throws IOException {
        return circuits.login(owners).path().resolve("known_hosts-" + to.id());
    }

    private Name name(ProjectHistory owners) {
        try {
            return vm == null ? new Name(drive, Role.CONTROLLER.toString(), owners.id()) : Name.parse(vm);
        } catch (MalformedException | IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), (vm == null ? "--drive: " : "--vm: ") + e.getMessage(), e);
        }
    }
}
