package org.cloister.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.PkixTrust;
import org.cloister.protocol.link.Trust;

/** A site, two projects, and a relay on loopback that serves them, all real but their names. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class Cast implements AutoCloseable {
    static final Name RELAY = new Name("r1", "relay", "site");
    static final Name HOST = new Name("n1", "host", "site");
    static final Name OTHER_HOST = new Name("n2", "host", "site");
    static final Name DEVICE = new Name("p1", "device", "a");
    static final Name MEMBER = new Name("p1", "member", "a");
    static final Name CONTROLLER = new Name("c", "controller", "a");
    static final Name WORKER = new Name("w1", "worker", "a");
    static final Name STRANGER_DEVICE = new Name("p2", "device", "b");
    static final Name STRANGER = new Name("p2", "member", "b");
    static final Digest POLICY = Digest.sha384("a policy");

    private static final Duration DAY = Duration.ofHours(24);

    final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(3, NioIoHandler.newFactory());
    final Map<String, Authority> authorities;
    final Map<String, X509Certificate> anchors;
    final Trust trust;
    private final Path state;
    private final Credential relayOwn;
    RelayMetrics metrics = new RelayMetrics();
    Relay relay;

    Cast(Path state) throws Exception {
        this(state, RelayLimits.DEFAULT);
    }

    Cast(Path state, RelayLimits limits) throws Exception {
        this.state = state;
        authorities = Map.of("site", authority("site"), "a", authority("a"), "b", authority("b"));
        anchors = Map.of(
                "site", PkixTrust.read(authorities.get("site").certificate()),
                "a", PkixTrust.read(authorities.get("a").certificate()),
                "b", PkixTrust.read(authorities.get("b").certificate()));
        trust = new PkixTrust(anchors);
        relayOwn = credential(RELAY);
        relay = serve(0, limits);
    }

    Relay serve(int port, RelayLimits limits) throws IOException {
        metrics = new RelayMetrics();
        return Relay.serve(
                new Relay.Terms(
                        RELAY, new InetSocketAddress(InetAddress.getLoopbackAddress(), port), relayOwn, trust, limits),
                RevocationBoard.open(state, new CrlReader(anchors.values())),
                metrics,
                loops);
    }

    Credential credential(Name name) throws GeneralSecurityException, IOException {
        return credential(name, name.project());
    }

    /** Of an authority that may not have the right to it. */
    Credential credential(Name name, String project) throws GeneralSecurityException, IOException {
        KeyPair pair = pair(curveOf(name));
        byte[] der = authorities.get(project).issue(name, key(pair), Instant.now(), DAY);
        return new Credential(pair.getPrivate(), List.of(PkixTrust.read(der)));
    }

    Link link(Name name) throws Exception {
        return get(Link.dial(loops, relay.address(), credential(name), trust.only(RELAY)));
    }

    /** A list of the site's that nobody is on. */
    byte[] revocations() throws GeneralSecurityException, IOException {
        return authorities.get("site").revoke(List.of(), java.math.BigInteger.TEN, Instant.now(), DAY);
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

    private static Authority authority(String project) throws GeneralSecurityException, IOException {
        if (project.equals(Name.SITE)) {
            KeyPair pair = pair(Curve.P256);
            return Authority.ofSite(
                    key(pair), SigningKey.of(pair)::sign, Instant.now(), DAY.multipliedBy(30), new SecureRandom());
        }
        KeyPair pair = pair(Curve.P384);
        return Authority.ofProject(
                project,
                key(pair),
                Signer.of(pair.getPrivate()),
                Instant.now(),
                DAY.multipliedBy(30),
                new SecureRandom());
    }

    private static SubjectKey key(KeyPair pair) throws IOException {
        return SubjectKey.of(VerificationKey.parse(pair.getPublic().getEncoded()));
    }

    private static Curve curveOf(Name name) {
        return Role.of(name.role()).orElseThrow().curve();
    }

    static KeyPair pair(Curve curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return generator.generateKeyPair();
    }

    @Override
    public void close() {
        relay.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
