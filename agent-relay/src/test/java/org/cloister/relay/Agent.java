package org.cloister.relay;

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
import org.cloister.protocol.channel.PortDialler;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.OpenCircuits;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;

/** An agent as the protocol's own code makes it; it serves names and answers dials with what a test wants. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class Agent implements AgentEvents, AutoCloseable {
    final BlockingQueue<Attachment> attachments = new LinkedBlockingQueue<>();
    final BlockingQueue<Optional<CloseReason>> served = new LinkedBlockingQueue<>();
    final BlockingQueue<RelayMessage.Dial> dials = new LinkedBlockingQueue<>();
    final BlockingQueue<ByteString> revocations = new LinkedBlockingQueue<>();
    final BlockingQueue<Object> circuits = new LinkedBlockingQueue<>();
    final BlockingQueue<String> losses = new LinkedBlockingQueue<>();
    final BlockingQueue<Instant> renewals = new LinkedBlockingQueue<>();
    final BlockingQueue<String> refusals = new LinkedBlockingQueue<>();
    /** Its own: what it has of lists, the relay brought. */
    final Beliefs beliefs;

    private AgentLink link;
    private final OpenCircuits open;
    private final Map<Name, Credential> inside = new ConcurrentHashMap<>();
    private final Map<Name, Circuit.Application> applications = new ConcurrentHashMap<>();

    Agent(Cast cast, Credential own) {
        this(cast, own, cast.relay.address());
    }

    Agent(Cast cast, Credential own, InetSocketAddress relay) {
        this(cast, () -> own, relay);
    }

    Agent(Cast cast, Supplier<Credential> own, InetSocketAddress relay) {
        this(cast);
        this.link = dialling(cast, own, relay, beliefs, this);
    }

    private Agent(Cast cast) {
        this.beliefs = cast.freshBeliefs();
        this.open = new OpenCircuits(beliefs, cast.loops.next(), ended -> {});
    }

    /** The same in a VM: it dials its host through the port's device. */
    static Agent inVm(Cast cast, Path device) {
        Agent agent = new Agent(cast);
        PortDialler port = new PortDialler(cast.loops.next(), device);
        agent.link = new AgentLink(cast.loops.next(), port, "a test's VM", agent.beliefs, agent, new Random(1));
        return agent;
    }

    /** Hears, and dials nobody. */
    static Agent silent(Cast cast) {
        return new Agent(cast);
    }

    static AgentLink dialling(
            Cast cast, Supplier<Credential> own, InetSocketAddress relay, Beliefs beliefs, AgentEvents events) {
        AgentLink.Terms terms =
                new AgentLink.Terms(List.of(relay), own, trust -> trust.only(Cast.RELAY), beliefs, "a test's agent");
        return new AgentLink(cast.loops, terms, events, new Random(1));
    }

    Attachment attachment() throws InterruptedException {
        return require(attachments.poll(20, TimeUnit.SECONDS), "no attachment; lost: " + losses);
    }

    /** Serves a VM's name, with the VM inside this process. */
    Optional<CloseReason> serve(Attachment attachment, Name name, Credential own, Circuit.Application application)
            throws InterruptedException {
        answer(name, own, application);
        attachment.serve(name);
        return require(served.poll(20, TimeUnit.SECONDS), "no answer to serve");
    }

    /** Answers dials to a name, whether it is served or not; without a credential it lets them wait. */
    void answer(Name name, Credential own, Circuit.Application application) {
        if (own == null) {
            inside.remove(name);
        } else {
            inside.put(name, own);
            applications.put(name, application);
        }
    }

    static <T> T require(T value, String otherwise) {
        if (value == null) {
            throw new AssertionError(otherwise);
        }
        return value;
    }

    @Override
    public void attached(Attachment attachment) {
        attachments.add(attachment);
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        served.add(refused);
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        dials.add(dial);
        Credential own = inside.get(dial.to());
        if (own != null) {
            Circuit.dialBack(attachment.link(), dial, own, Trust.inParties(beliefs), applications.get(dial.to()))
                    .addListener((Future<Circuit> done) -> {
                        if (done.isSuccess()) {
                            open.add(done.getNow());
                        }
                        circuits.add(done.isSuccess() ? done.getNow() : done.cause());
                    });
        }
    }

    @Override
    public boolean revoked(byte[] signed) {
        revocations.add(ByteString.copyFrom(signed));
        return false;
    }

    @Override
    public void renewed(Instant until) {
        renewals.add(until);
    }

    @Override
    public void notRenewed(String why) {
        refusals.add(why);
    }

    @Override
    public void lost(String why) {
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
