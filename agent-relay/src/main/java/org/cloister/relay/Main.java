package org.cloister.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.daemon.BadConfigException;
import org.cloister.daemon.StopSignal;
import org.cloister.daemon.Systemd;
import org.cloister.daemon.http.HttpListener;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.PemCredential;
import org.cloister.protocol.link.Renewal;

/**
 * {@code agent-relay [--check] [FILE]}: opens its state, listens for agents and operators, tells systemd, and waits for
 * SIGTERM; then drains and closes in the reverse order.
 */
public final class Main {
    private static final Path CONFIG = Path.of("/etc/cloister/agent-relay.toml");
    /** sysexits.h: restarting does not mend a configuration. */
    private static final int BAD_CONFIG = 78;

    private static final int USAGE = 64;
    private static final int FAILED = 1;

    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        boolean check = args.length > 0 && args[0].equals("--check");
        int files = args.length - (check ? 1 : 0);
        if (files > 1 || (files == 1 && args[args.length - 1].startsWith("-"))) {
            System.err.println("agent-relay: error: want agent-relay [--check] [FILE]");
            System.exit(USAGE);
        }
        try {
            RelayConfig config = RelayConfig.load(files == 1 ? Path.of(args[args.length - 1]) : CONFIG);
            if (!check) {
                run(config);
            }
        } catch (BadConfigException e) {
            e.problems().forEach(problem -> System.err.println("agent-relay: error: " + problem));
            System.exit(BAD_CONFIG);
        } catch (IOException e) {
            System.err.println("agent-relay: error: " + text(e));
            System.exit(FAILED);
        }
    }

    /** Java says the file's name alone when one is missing or closed to us. */
    private static String text(IOException e) {
        if (e instanceof NoSuchFileException) {
            return e.getMessage() + ": no such file; enrol the relay, or correct the configuration";
        }
        if (e instanceof AccessDeniedException) {
            return e.getMessage() + ": not readable; let user " + System.getProperty("user.name") + " read it";
        }
        return String.valueOf(e.getMessage());
    }

    @SuppressWarnings("try") // some resources are only there to be closed
    private static void run(RelayConfig config) throws IOException, InterruptedException {
        Set<VerificationKey> site = siteKeys(config.site());
        Credential own = PemCredential.read(config.certificate(), config.key());
        Name name = named(site, own, config.certificate());
        Renewal renewal = new Renewal(
                own,
                Anchors.none().withSite(site),
                fresh -> PemCredential.replace(config.certificate(), List.of(fresh)),
                new SecureRandom());
        Relay.Terms terms =
                new Relay.Terms(name, config.listen(), renewal, config.limits(), config.globalSlurm(), config.times());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        EventLoopGroup operators = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (StopSignal stop = new StopSignal();
                AutoCloseable loopsEnd = () -> end(loops);
                AutoCloseable operatorsEnd = () -> end(operators);
                Deliveries deliveries = Deliveries.open(config.state(), site, InstantSource.system());
                Records records = Records.open(config.state(), name, own, config.pool(), InstantSource.system());
                Relay relay = Relay.serve(terms, deliveries, records, new RelayMetrics(), loops);
                OwnRenewal certificate = new OwnRenewal(renewal, relay, operators.next());
                HttpListener socket = AdminRequests.on(config.socket(), relay, operators);
                AutoCloseable metrics =
                        config.metrics() == null ? () -> {} : AdminRequests.on(config.metrics(), relay, operators)) {
            Systemd.ready("serving " + relay.address() + " as " + name);
            stop.await();
            Systemd.stopping();
            relay.drain();
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("no resource above throws another one", e);
        }
    }

    private static Name named(Set<VerificationKey> site, Credential own, Path file) throws IOException {
        try {
            return Chain.of(own.chain())
                    .verifyUnlisted(Set.of(Role.RELAY), Anchors.none().withSite(site), Instant.now())
                    .name();
        } catch (IdentityRefused e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    private static Set<VerificationKey> siteKeys(Path file) throws IOException {
        Set<VerificationKey> keys = new LinkedHashSet<>();
        for (X509Certificate each : PemCredential.certificates(file)) {
            keys.add(VerificationKey.parse(each.getPublicKey().getEncoded()));
        }
        return keys;
    }

    private static void end(EventLoopGroup loops) {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
