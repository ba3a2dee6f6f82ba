package org.cloister.ctl.circuit;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.Digest;
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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A person's circuits to the VMs of a project. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
public final class CircuitOptions {
    private static final int WAIT_S = 60;
    private static final int ENVELOPE_BYTES = 2 * Policy.MAX_BYTES;

    @Mixin
    private LinkOptions link;

    @Option(
            names = "--policy",
            required = true,
            paramLabel = "FILE",
            description = "The owners' policy by which the VM is judged, signed by enough of them.")
    private Path policy;

    /** What is said through an open circuit. */
    @FunctionalInterface
    public interface Use {
        /** Blocks until it is over. */
        void use(Circuit circuit) throws IOException, InterruptedException;
    }

    public ProjectHistory owners() throws IOException {
        return link.owners();
    }

    public LoginFolder login(ProjectHistory owners) throws IOException {
        return link.login(owners);
    }

    /** The same options as words of a command line, whatever folder that is run in. */
    public List<String> words() {
        List<String> words = link.words();
        words.addAll(List.of("--policy", policy.toAbsolutePath().toString()));
        return words;
    }

    /** Of this person, who has the role. */
    @SuppressWarnings("try") // what is open is only there to be closed
    public void open(Name to, Role role, Circuit.Application application, Use use)
            throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        Beliefs beliefs = link.beliefs(owners);
        Credential own = read(owners, role);
        CircuitTerms terms = new CircuitTerms(named(beliefs, own, role), to, hash(owners));
        try (LinkOptions.Attached attached = link.attach(owners, beliefs);
                OpenCircuits open = new OpenCircuits(beliefs, attached.loop(), ended -> {})) {
            Circuit circuit = get(Circuit.open(attached.link(), terms, own, Trust.inParties(beliefs), application));
            open.add(circuit);
            use.use(circuit);
        }
    }

    private Credential read(ProjectHistory owners, Role role) throws IOException {
        LoginFolder login = link.login(owners);
        try {
            return login.read(role);
        } catch (NoSuchFileException e) {
            throw new IOException(
                    login.path() + ": want certificates of the role " + role
                            + ", have none; an owner gives the role (agentctl project member --role " + role
                            + "), then agentctl project login",
                    e);
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

    private static Name named(Beliefs beliefs, Credential own, Role role) throws IOException {
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
}
