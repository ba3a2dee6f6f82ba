package org.cloister.ctl.circuit;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.OpenCircuits;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.EnvelopeRefused;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Policy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl project circuit}: a ProxyCommand for OpenSSH. The relay sees sizes and times, nothing else. */
@Command(
        name = "circuit",
        description =
                "Passes standard input and output through a circuit to a VM of the project; ProxyCommand for ssh.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class CircuitCommand implements Callable<Integer> {
    private static final int WAIT_S = 60;
    private static final int ENVELOPE_BYTES = 2 * Policy.MAX_BYTES;

    @Parameters(paramLabel = "NAME", description = "The VM's name: ID.ROLE.PROJECT.cloister.internal.")
    private String target;

    @Mixin
    private LinkOptions link;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            defaultValue = "member",
            description = "As what: owner, opener, member or exporter; default: ${DEFAULT-VALUE}.")
    private Role role;

    @Option(
            names = "--policy",
            required = true,
            paramLabel = "FILE",
            description = "The owners' policy by which the VM is judged, signed by enough of them.")
    private Path policy;

    @Spec
    private CommandSpec spec;

    @Override
    @SuppressWarnings("try") // what is open is only there to be closed
    public Integer call() throws IOException, InterruptedException {
        Name to = name("NAME", target);
        ProjectHistory owners = link.owners();
        Beliefs beliefs = link.beliefs(owners);
        Credential own = link.login(owners).read(role);
        CircuitTerms terms = new CircuitTerms(named(beliefs, own), to, hash(owners));
        try (LinkOptions.Attached attached = link.attach(owners, beliefs);
                OpenCircuits open = new OpenCircuits(beliefs, attached.loop(), ended -> {})) {
            StandardStreams streams = new StandardStreams(System.in, System.out);
            open.add(get(Circuit.open(attached.link(), terms, own, Trust.inParties(beliefs), streams)));
            streams.await();
            return ExitCode.OK.code();
        }
    }

    private Digest hash(ProjectHistory owners) throws IOException {
        Envelope envelope = Envelope.parse(Pem.bytes(policy, ENVELOPE_BYTES), ENVELOPE_BYTES);
        try {
            byte[] payload = envelope.verify(
                    Policy.TYPE, owners.ownerKeys(), owners.owners().threshold());
            Policy signed = Policy.parse(payload);
            if (!signed.project().equals(owners.id()) || !signed.isValid(Instant.now())) {
                throw new IOException(policy + ": want a policy of " + owners.id() + " that holds now, have one of "
                        + signed.project() + " from " + signed.from() + " to " + signed.until());
            }
            return Policy.hash(payload);
        } catch (EnvelopeRefused e) {
            throw new IOException(policy + ": " + e.getMessage(), e);
        }
    }

    private Name named(Beliefs beliefs, Credential own) throws IOException {
        try {
            return beliefs.verifyUnlisted(Chain.of(own.chain()), Set.of(Role.values()))
                    .name();
        } catch (IdentityRefused e) {
            throw new IOException(role + ".pem: " + e.getMessage() + "; agentctl project login", e);
        }
    }

    private static <T> T get(Future<T> future) throws IOException, InterruptedException {
        try {
            if (!future.await(WAIT_S, TimeUnit.SECONDS)) {
                throw new IOException("relay: want an answer within " + WAIT_S + " s, have none");
            }
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw new IOException("circuit: " + e.getCause(), e);
        }
    }

    private Name name(String option, String text) {
        try {
            return Name.parse(text);
        } catch (MalformedException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }
}
