package org.cloister.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.cloister.protocol.Digest;
import org.cloister.protocol.audit.log.TinySegments;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.Trust;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.state.State;
import org.cloister.relay.ticket.AuditRoom;
import org.cloister.relay.ticket.TicketTimes;

/** Who takes part in most tests, and a relay on loopback that serves them: all real but their names. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class Cast implements AutoCloseable {
    static final Name RELAY = new Name("r1", "relay", Name.SITE);
    static final Name HOST = new Name("n1", "host", Name.SITE);
    static final Name OTHER_HOST = new Name("n2", "host", Name.SITE);
    static final Digest POLICY = Digest.sha384("a policy");

    final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(3, NioIoHandler.newFactory());
    final Site site;
    final Name device;
    final Name member;
    final Name controller;
    final Name worker;
    final Name strangerDevice;
    final Name stranger;
    /** What a party knows that has heard every list. */
    final Beliefs beliefs;

    final Trust trust;
    private final Path state;
    Supplier<Credential> relayOwn;
    private Deliveries deliveries;
    private Records records;
    /** Of relays that are served from now on. */
    Optional<GlobalSlurm> slurm = Optional.empty();

    TicketTimes times = TicketTimes.DEFAULT;
    /** Of the relay's records. */
    InstantSource clock = InstantSource.system();
    /** Of the audit log, if it is not what a relay has. */
    Optional<AuditRoom> room = Optional.empty();
    /** An audit log in the folder {@code tiny} that can be written exactly while that is there. */
    boolean tinySegments;

    RelayMetrics metrics = new RelayMetrics();
    Relay relay;

    Cast(Path state) throws Exception {
        this(state, RelayLimits.DEFAULT);
    }

    /** @param state of a new relay, to which all is delivered that it needs */
    Cast(Path state, RelayLimits limits) throws Exception {
        this.state = state;
        this.site = new Site();
        device = site.a.name("p1", Role.DEVICE);
        member = site.a.name("p1", Role.MEMBER);
        controller = site.a.name("c", Role.CONTROLLER);
        worker = site.a.name("w1", Role.WORKER);
        strangerDevice = site.b.name("p2", Role.DEVICE);
        stranger = site.b.name("p2", Role.MEMBER);
        beliefs = beliefs();
        trust = Trust.inParties(beliefs);
        Credential own = credential(RELAY);
        relayOwn = () -> own;
        relay = serve(0, limits);
        for (byte[] each : site.deliveries()) {
            relay.deliver(each);
        }
    }

    /** A party's own, with nothing revoked. */
    Beliefs beliefs() throws IOException {
        Beliefs own = freshBeliefs();
        for (byte[] list : site.lists()) {
            own.take(list);
        }
        return own;
    }

    /** A party's own that has heard no list yet. */
    Beliefs freshBeliefs() {
        return new Beliefs(site.anchors(), RevocationLists.none(), InstantSource.system());
    }

    Relay serve(int port, RelayLimits limits) throws IOException {
        metrics = new RelayMetrics();
        deliveries = Deliveries.open(state, List.of(site.key.verificationKey()), InstantSource.system());
        records = records();
        return Relay.serve(
                new Relay.Terms(
                        RELAY,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        relayOwn,
                        limits,
                        slurm.map(each -> new Relay.Slurm(each, "relay")),
                        times),
                deliveries,
                records,
                metrics,
                loops);
    }

    private Records records() throws IOException {
        if (!tinySegments) {
            Records all = Records.open(state, RELAY, relayOwn(), NetworkPool.DEFAULT, clock, why -> {});
            return room.isEmpty() ? all : new Records(all.state(), all.log(), all.key(), all.clock(), room.get());
        }
        SigningKey key = SigningKey.of(
                new KeyPair(relayOwn().chain().get(0).getPublicKey(), relayOwn().key()));
        return new Records(
                State.open(state.resolve("relay.db"), NetworkPool.DEFAULT),
                TinySegments.open(state.resolve("tiny"), RELAY.toString(), key, InstantSource.system()),
                key,
                InstantSource.system(),
                AuditRoom.of(() -> Long.MAX_VALUE));
    }

    Credential relayOwn() {
        return relayOwn.get();
    }

    /** As if its process had been killed. */
    void kill() throws IOException {
        relay.close();
        records.close();
        deliveries.close();
    }

    /** Of the relay, when none runs. */
    Path database() {
        return state.resolve("relay.db");
    }

    Credential credential(Name name) throws GeneralSecurityException, IOException {
        return site.credential(name);
    }

    /**
     * Lays out a relay's files as a site and its operator leave them.
     *
     * @param more lines of the configuration
     * @return the configuration's file
     */
    Path install(Path folder, String more) throws IOException {
        Path own = Files.createDirectories(folder.resolve("relay"));
        pem(folder.resolve("site.pem"), "CERTIFICATE", site.authority.certificate());
        pem(own.resolve("relay.pem"), "CERTIFICATE", encoded(relayOwn().chain().get(0)));
        pem(own.resolve("relay.key"), "PRIVATE KEY", relayOwn().key().getEncoded());
        return Files.writeString(
                folder.resolve("agent-relay.toml"),
                String.join(
                                "\n",
                                "certificate = \"" + own.resolve("relay.pem") + "\"",
                                "key = \"" + own.resolve("relay.key") + "\"",
                                "site = \"" + folder.resolve("site.pem") + "\"",
                                "state = \"" + own + "\"",
                                "socket = \"" + folder.resolve("agent-relay.sock") + "\"")
                        + "\n" + more);
    }

    private static void pem(Path file, String label, byte[] der) throws IOException {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        Files.writeString(file, "-----BEGIN " + label + "-----\n" + base64 + "\n-----END " + label + "-----\n");
    }

    private static byte[] encoded(X509Certificate certificate) throws IOException {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IOException(e);
        }
    }

    Link link(Name name) throws Exception {
        return get(Link.dial(
                loops,
                relay.address(),
                credential(name),
                Trust.inRelays(beliefs).only(RELAY)));
    }

    /** A host with an attach stream. */
    Agent agent(Name name) throws Exception {
        return new Agent(this, credential(name));
    }

    static CircuitTerms terms(Name from, Name to) {
        return new CircuitTerms(from, to, POLICY);
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        try {
            kill();
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
