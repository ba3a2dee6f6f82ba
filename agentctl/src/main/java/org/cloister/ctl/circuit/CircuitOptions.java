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
import org.cloister.base.encoding.Digest;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.OpenCircuits;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a person's circuits to the VMs of a project. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
public final class CircuitOptions {
    private static final int WAIT_S = 60;
    private static final int ENVELOPE_BYTES = 2 * ProjectPolicy.MAX_BYTES;

    @Mixin
    private RelayLinkOptions link;

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description = "The project policy by which the VM is appraised, signed by the threshold of owners; "
                    + "default: the profile's.")
    private @Nullable Path policy;

    /** Conversation over an open circuit. */
    @FunctionalInterface
    public interface CircuitSession {
        /** Runs the conversation; blocks until it is over. */
        void run(Circuit circuit) throws IOException, InterruptedException;
    }

    public ProjectHistory owners() throws IOException {
        return link.owners();
    }

    public LoginFolder login(ProjectHistory owners) throws IOException {
        return link.login(owners);
    }

    /** Returns the same options as words of a command line that is valid in any working directory. */
    public List<String> toArguments() throws IOException {
        List<String> arguments = link.toArguments();
        if (policy != null) {
            arguments.addAll(List.of("--policy", policy.toAbsolutePath().toString()));
        }
        return arguments;
    }

    /** Opens a circuit for this person, who has the role, and runs the conversation on it. */
    public void open(CertificateName to, CertificateRole role, Circuit.Application application, CircuitSession use)
            throws IOException, InterruptedException {
        try {
            connect(to, role, application, use);
        } catch (CircuitException e) {
            throw new IOException(RefusalText.of(to, e), e);
        }
    }

    @SuppressWarnings("try") // open resources are declared only to be closed
    private void connect(CertificateName to, CertificateRole role, Circuit.Application application, CircuitSession use)
            throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        TrustStore trustStore = link.trustStore(owners);
        TlsCredential own = read(owners, role);
        CircuitTerms terms = new CircuitTerms(named(trustStore, own, role), to, hash(owners));
        try (RelayLinkOptions.AttachedLink attached = link.attach(owners, trustStore);
                OpenCircuits open = new OpenCircuits(trustStore, attached.loop(), ended -> {})) {
            Circuit circuit = get(Circuit.open(
                    attached.link(), terms, own, CertifiedPeerVerifier.forCircuitEnds(trustStore), application));
            open.add(circuit);
            use.run(circuit);
        }
    }

    private TlsCredential read(ProjectHistory owners, CertificateRole role) throws IOException {
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
        NamedContents file = policy == null
                ? link.project().require("--policy", ProjectProfile::policy)
                : NamedContents.read(policy, ENVELOPE_BYTES);
        DsseEnvelope envelope = DsseEnvelope.parse(file.bytes().toByteArray(), ENVELOPE_BYTES);
        try {
            byte[] payload = envelope.verify(
                    ProjectPolicy.TYPE, owners.ownerKeys(), owners.owners().threshold());
            ProjectPolicy signed = ProjectPolicy.parse(payload);
            if (!signed.project().equals(owners.id()) || !signed.isValid(Instant.now())) {
                throw new IOException(
                        file.name() + ": want a policy of " + owners.id() + " that is valid now, have one of "
                                + signed.project() + " from " + signed.from() + " to " + signed.until());
            }
            return ProjectPolicy.hash(payload);
        } catch (EnvelopeRefusedException e) {
            throw new IOException(file.name() + ": " + e.getMessage(), e);
        }
    }

    private static CertificateName named(TrustStore trustStore, TlsCredential own, CertificateRole role)
            throws IOException {
        try {
            return trustStore
                    .verifyUnlisted(CertificateChain.of(own.chain()), Set.of(CertificateRole.values()))
                    .name();
        } catch (IdentityRefusedException e) {
            throw new IOException(role + ".pem: " + e.getMessage() + "; agentctl project login", e);
        }
    }

    private static <T> T get(Future<T> future) throws IOException, InterruptedException {
        try {
            if (!future.await(WAIT_S, TimeUnit.SECONDS)) {
                throw new IOException("relay: no answer within " + WAIT_S + " s");
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
