package org.cloister.relay.links;

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
import org.cloister.audit.SingleGroupSegments;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.relay.RelayDaemon;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.state.AuditSpace;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.state.RelayDatabase;
import org.cloister.relay.state.RelayRecords;
import org.cloister.relay.tickets.TicketTimeouts;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;

/** Relay on loopback with the peers of most tests: all real but their names. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
public final class RelayFixture implements AutoCloseable {
    public static final CertificateName RELAY = new CertificateName("r1", "relay", CertificateName.SITE);
    public static final CertificateName HOST = new CertificateName("n1", "host", CertificateName.SITE);
    public static final CertificateName OTHER_HOST = new CertificateName("n2", "host", CertificateName.SITE);
    public static final Digest POLICY = Digest.sha384("a policy");

    public final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(3, NioIoHandler.newFactory());
    public final TestSite site;
    public final CertificateName device;
    public final CertificateName member;
    public final CertificateName controller;
    public final CertificateName worker;
    public final CertificateName otherDevice;
    public final CertificateName otherMember;
    /** What a party knows that has heard every list. */
    public final TrustStore trustStore;

    public final CertifiedPeerVerifier trust;
    private final Path state;
    public Supplier<TlsCredential> relayOwn;
    private DeliveredDocuments deliveries;
    private RelayRecords records;
    /** Of relays that are served from now on. */
    public Optional<GlobalSlurm> slurm = Optional.empty();

    public TicketTimeouts times = TicketTimeouts.DEFAULT;
    /** Of the relay's records. */
    public InstantSource clock = InstantSource.system();
    /** Of the audit log, if it is not what a relay has. */
    public Optional<AuditSpace> auditSpace = Optional.empty();
    /** An audit log in the folder {@code tiny} that can be written exactly while that is there. */
    public boolean singleGroupSegments;

    public RelayMetrics metrics = new RelayMetrics();
    public RelayDaemon relay;

    public RelayFixture(Path state) throws Exception {
        this(state, RelayLimits.DEFAULT);
    }

    /** @param state of a new relay, to which all is delivered that it needs */
    RelayFixture(Path state, RelayLimits limits) throws Exception {
        this.state = state;
        this.site = new TestSite();
        device = site.a.name("p1", CertificateRole.DEVICE);
        member = site.a.name("p1", CertificateRole.MEMBER);
        controller = site.a.name("c", CertificateRole.CONTROLLER);
        worker = site.a.name("w1", CertificateRole.WORKER);
        otherDevice = site.b.name("p2", CertificateRole.DEVICE);
        otherMember = site.b.name("p2", CertificateRole.MEMBER);
        trustStore = trustStore();
        trust = CertifiedPeerVerifier.forCircuitEnds(trustStore);
        TlsCredential own = credential(RELAY);
        relayOwn = () -> own;
        relay = serve(0, limits);
        for (byte[] each : site.deliveries()) {
            deliver(each);
        }
    }

    /** A party's own, with nothing revoked. */
    public TrustStore trustStore() throws IOException {
        TrustStore own = emptyTrustStore();
        for (byte[] list : site.lists()) {
            own.addRevocationList(list);
        }
        return own;
    }

    /** A party's own that has heard no list yet. */
    TrustStore emptyTrustStore() {
        return new TrustStore(site.anchors(), RevocationLists.none(), InstantSource.system());
    }

    public RelayDaemon serve(int port, RelayLimits limits) throws IOException {
        metrics = new RelayMetrics();
        deliveries = DeliveredDocuments.open(state, List.of(site.key.verificationKey()), InstantSource.system());
        records = records();
        return new RelayDaemon(
                new RelayDaemon.Settings(
                        RELAY,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        relayOwn,
                        limits,
                        slurm,
                        times),
                deliveries,
                records,
                metrics,
                loops);
    }

    /** As an operator delivers a document; returns what the relay says of it. */
    public String deliver(byte[] document) throws IOException {
        return relay.delivery().deliver(document);
    }

    public DeliveredDocuments documents() {
        return deliveries;
    }

    private RelayRecords records() throws IOException {
        if (!singleGroupSegments) {
            RelayRecords all = RelayRecords.open(state, RELAY, relayOwn(), NetworkPool.DEFAULT, clock, why -> {});
            return auditSpace.isEmpty()
                    ? all
                    : new RelayRecords(all.state(), all.log(), all.key(), all.clock(), auditSpace.get());
        }
        SigningKey key = SigningKey.of(
                new KeyPair(relayOwn().chain().get(0).getPublicKey(), relayOwn().key()));
        return new RelayRecords(
                RelayDatabase.open(state.resolve("relay.db"), NetworkPool.DEFAULT),
                SingleGroupSegments.open(state.resolve("tiny"), RELAY.toString(), key, InstantSource.system()),
                key,
                InstantSource.system(),
                AuditSpace.of(() -> Long.MAX_VALUE));
    }

    public TlsCredential relayOwn() {
        return relayOwn.get();
    }

    /** As if its process had been killed. */
    public void kill() throws IOException {
        relay.close();
        records.close();
        deliveries.close();
    }

    /** Of the relay, when none runs. */
    public Path database() {
        return state.resolve("relay.db");
    }

    public TlsCredential credential(CertificateName name) throws GeneralSecurityException, IOException {
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

    public ClientLink link(CertificateName name) throws Exception {
        return get(ClientLink.dial(
                loops,
                relay.address(),
                credential(name),
                CertifiedPeerVerifier.forRelays(trustStore).only(RELAY)));
    }

    /** A host with an attach stream. */
    public TestAgent agent(CertificateName name) throws Exception {
        return new TestAgent(this, credential(name));
    }

    public static CircuitTerms terms(CertificateName from, CertificateName to) {
        return new CircuitTerms(from, to, POLICY);
    }

    public static <T> T get(Future<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    /** Dials the relay, and returns whether it refused the handshake. */
    boolean refuses(TlsCredential own) throws InterruptedException {
        long before = metrics.handshakesFailed.getCount();
        Future<ClientLink> dialled =
                ClientLink.dial(loops, relay.address(), own, CertifiedPeerVerifier.forRelays(trustStore));
        dialled.await(20, TimeUnit.SECONDS);
        // The client has its part of a handshake before the relay has verified the certificate.
        boolean ended = !dialled.isSuccess() || dialled.getNow().closeFuture().await(20, TimeUnit.SECONDS);
        return ended && metrics.handshakesFailed.getCount() == before + 1;
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
