package org.cloister.ctl.circuit;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.cloister.base.address.HostPort;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.ctl.project.ProjectOption;
import org.cloister.ctl.relay.RelayAddressConverter;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Options of a person's link to a relay. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
public final class RelayLinkOptions {
    @Option(
            names = "--relay",
            paramLabel = "HOST:PORT",
            converter = RelayAddressConverter.class,
            description = "Address of the relay; default: the profile's.")
    private @Nullable InetSocketAddress relay;

    @Option(
            names = "--relay-name",
            paramLabel = "NAME",
            description = "Accept only the relay of this name; default: each relay of the site.")
    private @Nullable String relayName;

    @Option(
            names = "--site",
            paramLabel = "FILE",
            description = "Certificate of the site's CA, in PEM; default: the profile's.")
    private @Nullable Path site;

    @Mixin
    private ProjectOption project;

    @Option(
            names = "--login",
            paramLabel = "DIR",
            description = "Folder that agentctl project login wrote; default: $XDG_RUNTIME_DIR/cloister/PROJECT.")
    private @Nullable Path login;

    @Spec(Target.MIXEE)
    private CommandSpec spec;

    /** Attached link, and the event loops on which it runs. */
    public record AttachedLink(AgentLink agent, ClientLink link, EventLoopGroup loops) implements AutoCloseable {
        EventLoop loop() {
            return loops.next();
        }

        @Override
        public void close() {
            agent.close();
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    public ProjectHistory owners() throws IOException {
        return project.readHistory();
    }

    /** Returns the options of the project, from whose profile other options have their defaults. */
    public ProjectOption project() {
        return project;
    }

    /** Returns the same options as words of a command line that is valid in any working directory. */
    public List<String> toArguments() throws IOException {
        List<String> arguments = new ArrayList<>();
        if (relay != null) {
            arguments.addAll(List.of("--relay", HostPort.text(relay)));
        }
        if (relayName != null) {
            arguments.addAll(List.of("--relay-name", relayName));
        }
        if (site != null) {
            arguments.addAll(List.of("--site", site.toAbsolutePath().toString()));
        }
        project.addArguments(arguments);
        if (login != null) {
            arguments.addAll(List.of("--login", login.toAbsolutePath().toString()));
        }
        return arguments;
    }

    /** Returns a trust store without revocation lists: the relay sends them. */
    public TrustStore trustStore(ProjectHistory owners) throws IOException {
        return new TrustStore(
                TrustAnchors.none().withSite(project.siteKeys(site)).withProject(owners),
                RevocationLists.none(),
                InstantSource.system());
    }

    public LoginFolder login(ProjectHistory owners) throws IOException {
        return login == null
                ? LoginFolder.defaultFolder(System.getenv("XDG_RUNTIME_DIR"), owners.id())
                : new LoginFolder(login);
    }

    public AttachedLink attach(ProjectHistory owners, TrustStore trustStore) throws IOException, InterruptedException {
        TlsCredential device = login(owners).read(CertificateRole.DEVICE);
        AgentLink.Settings terms =
                new AgentLink.Settings(List.of(relayAddress()), () -> device, relay(), trustStore, "agentctl");
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        AttachmentWaiter waiter = new AttachmentWaiter();
        AgentLink agent = new AgentLink(loops, terms, waiter, new SecureRandom());
        try {
            AgentAttachStream attachment = waiter.await();
            attachment
                    .link()
                    .peer()
                    .ifPresent(peer -> DeviceAuditWitness.of(
                                    stateHome(), owners.id(), spec.commandLine().getErr())
                            .countersign(attachment.head().toByteArray(), peer, device));
            return new AttachedLink(agent, attachment.link(), loops);
        } catch (IOException | InterruptedException | RuntimeException e) {
            agent.close();
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
            throw e;
        }
    }

    /** Returns the folder in which this device stores what it must know of a project after the session. */
    public static Path projectStateFolder(String project) {
        return stateHome().resolve("cloister").resolve(project);
    }

    /** Returns the folder for data that persists after a session; XDG Base Directory Specification. */
    private static Path stateHome() {
        String named = System.getenv("XDG_STATE_HOME");
        return named != null && named.startsWith("/")
                ? Path.of(named)
                : Path.of(System.getProperty("user.home"), ".local", "state");
    }

    private UnaryOperator<CertifiedPeerVerifier> relay() {
        if (relayName == null) {
            return each -> each;
        }
        try {
            CertificateName only = CertificateName.parse(relayName);
            return trust -> trust.only(only);
        } catch (MalformedException e) {
            throw new ParameterException(spec.commandLine(), "--relay-name: " + e.getMessage(), e);
        }
    }

    private InetSocketAddress relayAddress() throws IOException {
        return relay == null
                ? HostPort.parse(project.require("--relay", ProjectProfile::relay))
                        .unresolved()
                : relay;
    }
}
