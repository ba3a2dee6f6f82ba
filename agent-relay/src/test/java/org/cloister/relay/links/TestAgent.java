package org.cloister.relay.links;

import com.google.protobuf.ByteString;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.OpenCircuits;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;

/** An agent as the protocol's own code makes it; it serves names and answers dials with what a test wants. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
public final class TestAgent implements AgentLinkListener, AutoCloseable {
    public final BlockingQueue<AgentAttachStream> attachments = new LinkedBlockingQueue<>();
    public final BlockingQueue<Optional<CloseReason>> served = new LinkedBlockingQueue<>();
    public final BlockingQueue<RelayMessage.Dial> dials = new LinkedBlockingQueue<>();
    public final BlockingQueue<ByteString> revocations = new LinkedBlockingQueue<>();
    public final BlockingQueue<Object> circuits = new LinkedBlockingQueue<>();
    public final BlockingQueue<String> losses = new LinkedBlockingQueue<>();
    public final BlockingQueue<Instant> renewals = new LinkedBlockingQueue<>();
    public final BlockingQueue<String> refusals = new LinkedBlockingQueue<>();
    /** Its own: what it has of lists, the relay brought. */
    public final TrustStore trustStore;

    private AgentLink link;
    private final OpenCircuits open;
    private final Map<CertificateName, TlsCredential> inside = new ConcurrentHashMap<>();
    private final Map<CertificateName, Circuit.Application> applications = new ConcurrentHashMap<>();

    public TestAgent(RelayFixture fixture, TlsCredential own) {
        this(fixture, own, fixture.relay.address());
    }

    public TestAgent(RelayFixture fixture, TlsCredential own, InetSocketAddress relay) {
        this(fixture, () -> own, relay);
    }

    public TestAgent(RelayFixture fixture, Supplier<TlsCredential> own, InetSocketAddress relay) {
        this(fixture);
        this.link = dialling(fixture, own, relay, trustStore, this);
    }

    private TestAgent(RelayFixture fixture) {
        this.trustStore = fixture.emptyTrustStore();
        this.open = new OpenCircuits(trustStore, fixture.loops.next(), ended -> {});
    }

    /** The same in a VM: it dials its host through the port's device. */
    public static TestAgent inVm(RelayFixture fixture, Path device) {
        TestAgent agent = new TestAgent(fixture);
        HostPortDialler port = new HostPortDialler(fixture.loops.next(), device);
        agent.link = new AgentLink(fixture.loops.next(), port, "a test's VM", agent.trustStore, agent, new Random(1));
        return agent;
    }

    /** Hears, and dials nobody. */
    public static TestAgent silent(RelayFixture fixture) {
        return new TestAgent(fixture);
    }

    public static AgentLink dialling(
            RelayFixture fixture,
            Supplier<TlsCredential> own,
            InetSocketAddress relay,
            TrustStore trustStore,
            AgentLinkListener events) {
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(relay), own, trust -> trust.only(RelayFixture.RELAY), trustStore, "a test's agent");
        return new AgentLink(fixture.loops, terms, events, new Random(1));
    }

    public AgentAttachStream attachment() throws InterruptedException {
        return require(attachments.poll(RelayServerProcess.WAIT_S, TimeUnit.SECONDS), "no attachment; lost: " + losses);
    }

    /** Serves a VM's name, with the VM inside this process. */
    public Optional<CloseReason> serve(
            AgentAttachStream attachment, CertificateName name, TlsCredential own, Circuit.Application application)
            throws InterruptedException {
        answer(name, own, application);
        attachment.serve(name);
        return require(served.poll(RelayServerProcess.WAIT_S, TimeUnit.SECONDS), "no answer to serve");
    }

    /** Answers dials to a name, whether it is served or not; without a credential it lets them wait. */
    public void answer(CertificateName name, TlsCredential own, Circuit.Application application) {
        if (own == null) {
            inside.remove(name);
        } else {
            inside.put(name, own);
            applications.put(name, application);
        }
    }

    public static <T> T require(T value, String defaults) {
        if (value == null) {
            throw new AssertionError(defaults);
        }
        return value;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachments.add(attachment);
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        served.add(refused);
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        dials.add(dial);
        TlsCredential own = inside.get(dial.to());
        if (own != null) {
            Circuit.dialBack(
                            attachment.link(),
                            dial,
                            own,
                            CertifiedPeerVerifier.forCircuitEnds(trustStore),
                            applications.get(dial.to()))
                    .addListener((Future<Circuit> done) -> {
                        if (done.isSuccess()) {
                            open.add(done.getNow());
                        }
                        circuits.add(done.isSuccess() ? done.getNow() : done.cause());
                    });
        }
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        revocations.add(ByteString.copyFrom(signed));
        return false;
    }

    @Override
    public void onRenewed(Instant until) {
        renewals.add(until);
    }

    @Override
    public void onRenewalFailed(String why) {
        refusals.add(why);
    }

    @Override
    public void onLost(String why) {
        losses.add(why);
    }

    @Override
    public void close() {
        if (link != null) {
            link.close();
        }
        open.close();
    }
}
