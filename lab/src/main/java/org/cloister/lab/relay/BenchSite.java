package org.cloister.lab.relay;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.PemCredential;
import org.cloister.protocol.link.PkixTrust;
import org.cloister.protocol.link.Trust;

/** A site with a relay, hosts, and one project, as files that several processes read. Its keys are worth nothing. */
public final class BenchSite {
    public static final Name RELAY = new Name("r1", "relay", Name.SITE);
    public static final Name HOST = new Name("n1", "host", Name.SITE);
    public static final Name DEVICE = new Name("p1", "device", "a");
    public static final Name MEMBER = new Name("p1", "member", "a");
    public static final Name CONTROLLER = new Name("c", "controller", "a");

    private static final Duration DAY = Duration.ofHours(24);
    private static final Duration MONTH = DAY.multipliedBy(30);
    private static final String HOSTS = "hosts";

    private final Path folder;

    private BenchSite(Path folder) {
        this.folder = folder;
    }

    /** What {@link #make} has written. */
    public static BenchSite at(Path folder) {
        return new BenchSite(folder);
    }

    /** @param hosts more hosts, of one key and each with a certificate of its own */
    public static BenchSite make(Path folder, int hosts) throws IOException {
        try {
            BenchSite made = new BenchSite(folder);
            Files.createDirectories(folder.resolve("anchors"));
            KeyPair siteKey = pair(Curve.P256);
            Authority site = Authority.ofSite(
                    key(siteKey), SigningKey.of(siteKey)::sign, Instant.now(), MONTH, new SecureRandom());
            KeyPair owner = pair(Curve.P384);
            Authority project = Authority.ofProject(
                    "a", key(owner), Signer.of(owner.getPrivate()), Instant.now(), MONTH, new SecureRandom());
            write(made.siteCertificate(), List.of(site.certificate()));
            write(folder.resolve("anchors/a.pem"), List.of(project.certificate()));
            made.issue(site, RELAY);
            made.issueMany(site, made.issue(site, HOST), hosts);
            for (Name name : List.of(DEVICE, MEMBER, CONTROLLER)) {
                made.issue(project, name);
            }
            return made;
        } catch (GeneralSecurityException e) {
            throw new IOException("bench site: " + e.getMessage(), e);
        }
    }

    /** The relay's configuration, for a port of loopback. */
    public Path relayConfig(int port) throws IOException {
        Path state = Files.createDirectories(folder.resolve("state"));
        String text = "listen = \"127.0.0.1:" + port + "\"\n"
                + "certificate = \"" + certificate(RELAY) + "\"\n"
                + "key = \"" + key(RELAY) + "\"\n"
                + "anchors = \"" + folder.resolve("anchors") + "\"\n"
                + "state = \"" + state + "\"\n"
                + "socket = \"" + state.resolve("s") + "\"\n";
        return Files.writeString(folder.resolve("relay.toml"), text);
    }

    public Trust trust() throws IOException {
        try {
            return new PkixTrust(Map.of(Name.SITE, anchor(Name.SITE), "a", anchor("a")));
        } catch (CertificateException e) {
            throw new IOException(folder + ": " + e.getMessage(), e);
        }
    }

    public Credential credential(Name name) throws IOException {
        return PemCredential.read(certificate(name), key(name));
    }

    /** The many hosts' credentials. */
    public List<Credential> hosts() throws IOException {
        PrivateKey key = credential(HOST).key();
        List<Credential> hosts = new ArrayList<>();
        try (InputStream all = Files.newInputStream(folder.resolve(HOSTS + ".pem"))) {
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(all)) {
                hosts.add(new Credential(key, List.of((X509Certificate) each)));
            }
        } catch (CertificateException e) {
            throw new IOException(folder + ": " + e.getMessage(), e);
        }
        return hosts;
    }

    /** The site authority's own certificate, in PEM. */
    public Path siteCertificate() {
        return folder.resolve("anchors/site.pem");
    }

    public Path certificate(Name name) {
        return folder.resolve(name.id() + "." + name.role() + ".pem");
    }

    public Path key(Name name) {
        return folder.resolve(name.id() + "." + name.role() + ".key");
    }

    public static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private X509Certificate anchor(String project) throws IOException, CertificateException {
        return PemCredential.certificates(folder.resolve("anchors/" + project + ".pem"))
                .get(0);
    }

    private KeyPair issue(Authority authority, Name name) throws GeneralSecurityException, IOException {
        KeyPair pair = pair(Role.of(name.role()).orElseThrow().curve());
        write(certificate(name), List.of(authority.issue(name, key(pair), Instant.now(), DAY)));
        Files.writeString(key(name), pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
        Files.setPosixFilePermissions(key(name), PosixFilePermissions.fromString("rw-------"));
        return pair;
    }

    private void issueMany(Authority site, KeyPair pair, int count) throws IOException {
        List<byte[]> certificates = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            certificates.add(site.issue(new Name("m" + i, "host", Name.SITE), key(pair), Instant.now(), DAY));
        }
        write(folder.resolve(HOSTS + ".pem"), certificates);
    }

    private static void write(Path file, List<byte[]> certificates) throws IOException {
        StringBuilder text = new StringBuilder();
        for (byte[] der : certificates) {
            text.append(pem("CERTIFICATE", der));
        }
        Files.writeString(file, text);
    }

    private static String pem(String kind, byte[] der) {
        return "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + kind
                + "-----\n";
    }

    private static SubjectKey key(KeyPair pair) throws IOException {
        return SubjectKey.of(VerificationKey.parse(pair.getPublic().getEncoded()));
    }

    private static KeyPair pair(Curve curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return generator.generateKeyPair();
    }
}
