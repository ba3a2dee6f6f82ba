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
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.project.ProjectOption;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.OpenCircuits;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.PemCredential;
import org.cloister.protocol.link.Trust;
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
    private static final Pattern ADDRESS = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[0-9A-Za-z.-]+):([0-9]{1,5})");
    private static final int WAIT_S = 60;

    @Parameters(paramLabel = "NAME", description = "The VM's name: ID.ROLE.PROJECT.cloister.internal.")
    private String target;

    @Option(names = "--relay", required = true, paramLabel = "HOST:PORT", description = "Where the relay listens.")
    private String relay;

    @Option(names = "--relay-name", required = true, paramLabel = "NAME", description = "The relay's name.")
    private String relayName;

    @Option(names = "--site", required = true, paramLabel = "FILE", description = "The site's authority, PEM.")
    private Path site;

    @Mixin
    private ProjectOption project;

    @Option(
            names = "--device",
            required = true,
            paramLabel = "PATH",
            description = "This device's credential for the link: PATH.pem and PATH.key.")
    private Path device;

    @Option(
            names = "--person",
            required = true,
            paramLabel = "PATH",
            description = "The person's credential inside the circuit: PATH.pem and PATH.key.")
    private Path person;

    @Option(
            names = "--policy",
            required = true,
            paramLabel = "SHA384",
            description = "The policy by which the VM is judged: its digest, 96 hex digits.")
    private String policy;

    @Spec
    private CommandSpec spec;

    @Override
    @SuppressWarnings("try") // the link is only there to be closed
    public Integer call() throws IOException, InterruptedException {
        Name to = name("NAME", target);
        Beliefs beliefs = new Beliefs(
                Anchors.none().withSite(siteKeys()).withProject(project.read()),
                RevocationLists.none(),
                InstantSource.system());
        Credential own = credential(person);
        CircuitTerms terms = new CircuitTerms(named(beliefs, own), to, digest());
        Credential onLink = credential(device);
        AgentLink.Terms link = new AgentLink.Terms(
                List.of(address()),
                () -> onLink,
                trust -> trust.only(name("--relay-name", relayName)),
                beliefs,
                "agentctl");
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

    private static Credential credential(Path path) throws IOException {
        return PemCredential.read(Path.of(path + ".pem"), Path.of(path + ".key"));
    }

    private Name named(Beliefs beliefs, Credential own) throws IOException {
        try {
            return beliefs.verifyUnlisted(Chain.of(own.chain()), Set.of(Role.values()))
                    .name();
        } catch (IdentityRefused e) {
            throw new IOException(person + ".pem: " + e.getMessage(), e);
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

    private InetSocketAddress address() {
        Matcher matcher = ADDRESS.matcher(relay);
        int port = matcher.matches() ? Integer.parseInt(matcher.group(2)) : -1;
        if (port < 1 || port > 65535) {
            throw new ParameterException(spec.commandLine(), "--relay: want HOST:PORT, have " + relay);
        }
        return InetSocketAddress.createUnresolved(matcher.group(1), port);
    }

    private Name name(String option, String text) {
        try {
            return Name.parse(text);
        } catch (MalformedException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }

    private Digest digest() {
        try {
            return new Digest(Digest.Algorithm.SHA384, policy);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--policy: " + e.getMessage(), e);
        }
    }
}
