package org.cloister.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.PemCredential;
import org.cloister.protocol.link.PkixTrust;
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
            System.err.println("agent-relay: error: " + e.getMessage());
            System.exit(FAILED);
        }
    }

    @SuppressWarnings("try") // some resources are only there to be closed
    private static void run(RelayConfig config) throws IOException, InterruptedException {
        Map<String, X509Certificate> anchors = anchors(config.anchors());
        X509Certificate site = anchors.get(Name.SITE);
        if (site == null) {
            throw new IOException(config.anchors() + ": want site.pem, the site's authority, have " + anchors.keySet());
        }
        PkixTrust trust = new PkixTrust(anchors);
        Credential own = PemCredential.read(config.certificate(), config.key());
        Name name = named(trust, own, config.certificate());
        RevocationBoard revocations = RevocationBoard.open(config.state(), new CrlReader(anchors.values()));
        Renewal renewal = new Renewal(
                own,
                Anchors.none().withSite(List.of(VerificationKey.of(site.getPublicKey()))),
                fresh -> PemCredential.replace(config.certificate(), List.of(fresh)),
                new SecureRandom());
        Relay.Terms terms = new Relay.Terms(name, config.listen(), renewal, trust, config.limits());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        EventLoopGroup operators = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (StopSignal stop = new StopSignal();
                AutoCloseable loopsEnd = () -> end(loops);
                AutoCloseable operatorsEnd = () -> end(operators);
                Relay relay = Relay.serve(terms, revocations, new RelayMetrics(), loops);
                OwnRenewal certificate = new OwnRenewal(renewal, relay, operators.next());
                AdminListener socket = AdminListener.on(config.socket(), relay, operators);
                AutoCloseable metrics =
                        config.metrics() == null ? () -> {} : AdminListener.on(config.metrics(), relay, operators)) {
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

    private static Name named(PkixTrust trust, Credential own, Path file) throws IOException {
        try {
            return trust.verify(own.chain());
        } catch (GeneralSecurityException e) {
            throw new IOException(file + ": " + e.getMessage() + "; enrol the relay again", e);
        }
    }

    private static Map<String, X509Certificate> anchors(Path folder) throws IOException {
        Map<String, X509Certificate> anchors = new HashMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.pem")) {
            for (Path file : files) {
                String name = String.valueOf(file.getFileName());
                anchors.put(
                        name.substring(0, name.length() - ".pem".length()),
                        PemCredential.certificates(file).get(0));
            }
        }
        return anchors;
    }

    private static void end(EventLoopGroup loops) {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
