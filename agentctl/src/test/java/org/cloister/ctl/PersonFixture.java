package org.cloister.ctl;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.Opening;
import org.cloister.transport.circuit.FaultyPath;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A person's end of sessions, for tests that have the controlling VM's: agentctl itself, and relays whose circuits fail. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
public abstract class PersonFixture extends UnlockCommandFixture {
    /** The ID in the person's names. */
    protected static final String PERSON = "cat";

    private static InjectedStreams streams;
    private static String policy;
    private static int ways;

    @BeforeAll
    static void person() throws IOException {
        login("exporter", "exporter");
        policy = signed(1);
        streams = new InjectedStreams();
    }

    @AfterAll
    static void setUp() {
        streams.close();
    }

    /** The controlling VM's name. */
    protected static CertificateName controller() {
        return Opening.controller("main", history.id());
    }

    /** Of a controlling VM that its opener has certified. */
    protected static TlsCredential certified() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(SignatureCurve.P384.standardName()));
        KeyPair pair = generator.generateKeyPair();
        SigningKey key = SigningKey.of(pair);
        Files.write(
                folder.resolve("vm.request"),
                Pem.write(
                        Pem.CERTIFICATE_REQUEST,
                        CertificateRequest.make(controller(), key).bytes()));
        out(
                "project",
                "controller",
                "--project",
                at("genesis"),
                "--certificate",
                at("cat-opener.pem"),
                "--key",
                at("cat.key"),
                "--out",
                at("vm.authority"),
                at("vm.request"));
        List<byte[]> chain = new ArrayList<>();
        for (X509Certificate each : PemCredentialFile.certificates(folder.resolve("vm.authority"))) {
            chain.add(each.getEncoded());
        }
        CertificateAuthority authority = CertificateAuthority.load(chain.get(0), key::sign, new SecureRandom());
        chain.add(
                0,
                authority.issue(
                        controller(),
                        SubjectPublicKey.of(key.verificationKey()),
                        Instant.now(),
                        CertificateAuthority.LEAF));
        return TlsCredential.of(pair.getPrivate(), chain);
    }

    /** Of the host that serves the VM's name. */
    protected static TlsCredential host() throws IOException {
        return credential("h1");
    }

    /** As of who has heard all lists. */
    protected static TrustStore believed() throws IOException {
        return beliefs();
    }

    /** A device of the person's, and a relay that nobody else uses. */
    protected static final class Way implements AutoCloseable {
        private final LoopbackTicketRelay relay;
        private final Path logins;

        public Way() throws Exception {
            relay = new LoopbackTicketRelay(
                    credential("r1"),
                    beliefs(),
                    List.of(
                            Files.readAllBytes(folder.resolve("ca/revocations.crl")),
                            Files.readAllBytes(folder.resolve("ann.crl"))));
            logins = Files.createDirectory(
                    project.memory().resolve("way-" + ways++),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            for (CertificateRole role : List.of(CertificateRole.MEMBER, CertificateRole.EXPORTER)) {
                copy(project.memory().resolve(role.toString()), login(role));
            }
        }

        private static void copy(Path from, Path to) throws IOException {
            Files.createDirectory(
                    to, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            try (Stream<Path> files = Files.list(from)) {
                for (Path each : files.toList()) {
                    Files.copy(each, to.resolve(each.getFileName()));
                    Files.setPosixFilePermissions(
                            to.resolve(each.getFileName()), PosixFilePermissions.fromString("rw-------"));
                }
            }
        }

        private Path login(CertificateRole role) {
            return logins.resolve(role.toString());
        }

        /** As in HOST:PORT. */
        public String relay() {
            return relay.address();
        }

        /** By which circuits go from now on. */
        public void by(FaultyPath path) {
            relay.exchange().paths = () -> path;
        }

        /** {@code agentctl project COMMAND} in that role. */
        public Cli.Result run(CertificateRole role, String command, String... more) throws IOException {
            List<String> arguments = new ArrayList<>(List.of("project", command, "--relay", relay()));
            arguments.addAll(List.of("--site", at("ca/authority.pem"), "--project", at("genesis")));
            arguments.addAll(List.of("--login", login(role).toString(), "--policy", policy));
            arguments.addAll(List.of("--role", role.toString()));
            arguments.addAll(Arrays.asList(more));
            return project.cli.run(arguments.toArray(String[]::new));
        }

        /** {@code agentctl project connect} as ssh's ProxyCommand, whose ends the socket has; they are closed with it. */
        public Cli.Result connect(CertificateRole role, Socket ssh) throws Exception {
            try (ssh) {
                return streams.with(ssh.getInputStream(), ssh.getOutputStream(), () -> run(role, "connect"));
            }
        }

        @Override
        public void close() {
            relay.close();
        }
    }
}
