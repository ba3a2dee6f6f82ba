package org.cloister.ctl.circuit;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.project.ProjectOption;
import org.cloister.ctl.relay.RelayAddress;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.OpenCircuits;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.EnvelopeRefused;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.PemCredential;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Policy;
import org.jspecify.annotations.Nullable;
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

    @Option(
            names = "--relay",
            required = true,
            paramLabel = "HOST:PORT",
            converter = RelayAddress.class,
            description = "Where the relay listens.")
    private InetSocketAddress relay;

    @Option(
            names = "--relay-name",
            paramLabel = "NAME",
            description = "Whom of the site's relays it takes, by name; each of them unless given.")
    private @Nullable String relayName;

    @Option(names = "--site", required = true, paramLabel = "FILE", description = "The site's authority, PEM.")
    private Path site;

    @Mixin
    private ProjectOption project;

    @Option(
            names = "--login",
            paramLabel = "DIR",
            description = "Where agentctl project login wrote; default: $XDG_RUNTIME_DIR/cloister/PROJECT.")
    private @Nullable Path login;

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
    @SuppressWarnings("try") // the link is only there to be closed
    public Integer call() throws IOException, InterruptedException {
        Name to = name("NAME", target);
        ProjectHistory owners = project.read();
        Beliefs beliefs = new Beliefs(
                Anchors.none().withSite(siteKeys()).withProject(owners),
                RevocationLists.none(),
                InstantSource.system());
        LoginFolder folder = login == null
                ? LoginFolder.usual(System.getenv("XDG_RUNTIME_DIR"), owners.id())
                : new LoginFolder(login);
        Credential own = folder.read(role);
        Credential device = folder.read(Role.DEVICE);
        CircuitTerms terms = new CircuitTerms(named(beliefs, own), to, hash(owners));
        UnaryOperator<Trust> only = relayName == null ? each -> each : only(name("--relay-name", relayName));
        AgentLink.Terms link = new AgentLink.Terms(List.of(relay), () -> device, only, beliefs, "agentctl");
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Arrival arrival = new Arrival();
        try (AgentLink attached = new AgentLink(loops, link, arrival, new SecureRandom());
                OpenCircuits open = new OpenCircuits(beliefs, loops.next(), ended -> {})) {
            StandardStreams streams = new StandardStreams(System.in, System.out);
            open.add(get(Circuit.open(arrival.await().link(), terms, own, Trust.inParties(beliefs), streams)));
            streams.await();
            return ExitCode.OK.code();
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private Set<VerificationKey> siteKeys() throws IOException {
        Set<VerificationKey> keys = new LinkedHashSet<>();
        for (X509Certificate each : PemCredential.certificates(site)) {
            keys.add(VerificationKey.parse(each.getPublicKey().getEncoded()));
        }
        return keys;
    }

    private static UnaryOperator<Trust> only(Name relay) {
        return trust -> trust.only(relay);
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
