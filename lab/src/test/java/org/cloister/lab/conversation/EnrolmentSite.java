package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.ctl.Cli;
import org.cloister.ctl.authority.EnrolmentFileStore;
import org.cloister.ctl.authority.EnrolmentState;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.relay.links.RelayServerProcess;
import org.cloister.transport.tls.PemCredentialFile;

/** Site as its administrator makes it with agentctl, and its relay as a process that knows nothing but its token. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class EnrolmentSite implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Path folder;
    private final Cli cli;
    private final int port;
    private final ChildProcess relay;
    private Thread authority;
    private volatile Cli.Result served;

    EnrolmentSite(Path folder) throws IOException {
        this.folder = folder;
        this.cli = new Cli(folder, "correct horse battery staple");
        this.port = ChildProcess.port();
        done(cli.runWithSecret("site", "init", "--site", at("ca")));
        enrol("relay", "r1");
        done(join("relay", "r1", "r1"));
        done(cli.runWithSecret("site", "issue", "--site", at("ca"), at("r1/own.request")));
        done(join("relay", "r1", "r1"));
        Path config = Files.writeString(
                folder.resolve("agent-relay.toml"),
                "listen = \"127.0.0.1:%d\"\n".formatted(port)
                        + "certificate = \"%1$s/own.pem\"\nkey = \"%1$s/own.key\"\nsite = \"%1$s/site.pem\"\n"
                                .formatted(at("r1"))
                        + "state = \"%s\"\nsocket = \"%s\"\n".formatted(at("r1"), at("relay.sock")));
        this.relay = ChildProcess.relay(folder, config, port);
    }

    String at(String name) {
        return folder.resolve(name).toString();
    }

    InetSocketAddress relay() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    String relayText() {
        return "127.0.0.1:" + port;
    }

    static String done(Cli.Result result) {
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result.out();
    }

    /** Makes a token that names these relays. */
    void enrol(String role, String id, String... relays) throws IOException {
        List<String> words = new ArrayList<>(
                List.of("site", "enrol", "--site", at("ca"), "--role", role, "--token", at(id + ".token")));
        for (String each : relays) {
            words.addAll(List.of("--relay", each));
        }
        words.add(id);
        done(cli.runWithSecret(words.toArray(String[]::new)));
    }

    /** Runs {@code host join} or {@code relay join} on a machine, which is a folder. */
    Cli.Result join(String role, String machine, String token, String... more) throws IOException {
        Path own = Files.createDirectories(folder.resolve(machine));
        Path daemon = Files.writeString(
                own.resolve("daemon"),
                "#!/bin/sh\nprintf 'certificate=%1$s/own.pem\\nkey=%1$s/own.key\\nsite=%1$s/site.pem\\n'\n"
                        .formatted(own));
        Files.setPosixFilePermissions(daemon, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> words = new ArrayList<>(List.of(
                role,
                "join",
                "--token",
                at(token + ".token"),
                "--out",
                own.resolve("own.request").toString(),
                "--daemon",
                daemon.toString(),
                "--user",
                System.getProperty("user.name")));
        words.addAll(List.of(more));
        return cli.run(words.toArray(String[]::new));
    }

    /** Starts {@code site serve}, and returns when it is attached to the relay. */
    void serve() throws IOException {
        authority = new Thread(() -> {
            try {
                served = cli.runWithSecret("site", "serve", "--site", at("ca"), "--relay", relayText());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        authority.start();
        Poll.until("a desk at the relay", LIMIT, "read its output", () -> status().contains("\"desk\":true"));
    }

    private String status() throws IOException {
        Path socket = folder.resolve("relay.sock");
        return Files.exists(socket) ? RelayServerProcess.request(socket, "GET /status") : "";
    }

    /** Stops {@code site serve}, and returns what it printed. */
    String stopServing() throws InterruptedException {
        authority.interrupt();
        authority.join();
        return served.out() + served.err();
    }

    /** Waits until the relay has a list with this serial number. */
    void awaitListed(BigInteger serial) throws IOException {
        X509Certificate authority = PemCredentialFile.certificates(folder.resolve("ca/authority.pem"))
                .get(0);
        VerificationKey key = VerificationKey.parse(authority.getPublicKey().getEncoded());
        Path list = folder.resolve("r1/lists").resolve(key.id());
        Poll.until(
                "list at the relay",
                LIMIT,
                "read the relay's log",
                () -> Files.exists(list)
                        && RevocationList.read(Files.readAllBytes(list), List.of(key))
                                .serials()
                                .contains(serial));
    }

    X509Certificate certificate(String machine) throws IOException {
        return PemCredentialFile.certificates(folder.resolve(machine).resolve("own.pem"))
                .get(0);
    }

    Optional<EnrolmentState> state(String id) throws IOException {
        return new EnrolmentFileStore(folder.resolve("ca/enrolments"))
                .find(new CertificateName(id, "host", CertificateName.SITE));
    }

    @Override
    public void close() throws IOException {
        if (authority != null) {
            authority.interrupt();
        }
        relay.close();
        cli.close();
    }
}
