package org.cloister.lab.relay;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
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
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;

/**
 * Files, readable by several processes, of a site with a relay, hosts, and one project; {@link #beside} returns the
 * same site with another project. Its keys are worthless.
 */
public final class RelaySiteFiles {
    public static final CertificateName RELAY = new CertificateName("r1", "relay", CertificateName.SITE);
    public static final CertificateName HOST = new CertificateName("n1", "host", CertificateName.SITE);
    /** Names of the lab's compute hosts, as in the Global Slurm. */
    public static final List<CertificateName> NODES = List.of(
            new CertificateName("h1", "host", CertificateName.SITE),
            new CertificateName("h2", "host", CertificateName.SITE));

    private static final Duration DAY = Duration.ofHours(24);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration MONTH = DAY.multipliedBy(30);
    private static final String SITE = "site.pem";
    private static final String HOSTS = "hosts.pem";
    private static final String SECOND = "second.crl";
    private static final String GENESIS = "genesis.json";
    private static final String SITES = "site.crl";
    /** Documents of a project that are delivered to the relay, in an order that it accepts. */
    private static final List<String> DELIVERIES = List.of(GENESIS, "approval.json", "owner.crl");

    private static final ProjectApproval.Quota QUOTA =
            new ProjectApproval.Quota(4096, 1 << 16, 1L << 30, 4096, 1000, 1000, 4096);
    private static final ProjectApproval.Quota NOTHING = new ProjectApproval.Quota(0, 0, 0, 0, 0, 0, 0);

    private final Path folder;
    private final Path documents;
    private final Optional<SigningKey> siteKey;
    private final List<KeyPair> owners;
    private final String project;

    /**
     * @param folder the site's
     * @param documents the project's
     * @param siteKey of a site that was made here
     */
    private RelaySiteFiles(Path folder, Path documents, Optional<SigningKey> siteKey, List<KeyPair> owners)
            throws IOException {
        this.folder = folder;
        this.documents = documents;
        this.siteKey = siteKey;
        this.owners = List.copyOf(owners);
        this.project = ProjectHistory.fromGenesis(Files.readAllBytes(documents.resolve(GENESIS)))
                .id();
    }

    /** Reads what {@link #create} has written, without the owners' keys. */
    public static RelaySiteFiles at(Path folder) throws IOException {
        return at(folder, folder);
    }

    /** Reads the same with another project than its first; see {@link #beside}. */
    public static RelaySiteFiles at(Path folder, Path documents) throws IOException {
        return new RelaySiteFiles(folder, documents, Optional.empty(), List.of());
    }

    /** @param hosts more hosts, which share one key and have separate certificates */
    public static RelaySiteFiles create(Path folder, int hosts) throws IOException {
        try {
            SigningKey siteKey = SigningKey.of(pair(SignatureCurve.P256));
            CertificateAuthority site = CertificateAuthority.ofSite(
                    SubjectPublicKey.of(siteKey.verificationKey()),
                    siteKey::sign,
                    Instant.now(),
                    MONTH,
                    new SecureRandom());
            RelaySiteFiles made = project(folder, folder, siteKey);
            Files.write(folder.resolve(SITES), list(site));
            write(made.siteCertificate(), List.of(site.certificate()));
            made.issue(site, RELAY);
            made.issueMany(site, made.issue(site, HOST), hosts);
            for (CertificateName node : NODES) {
                made.issue(site, node);
            }
            return made;
        } catch (GeneralSecurityException e) {
            throw new IOException("site of the lab: " + e.getMessage(), e);
        }
    }

    /**
     * Creates another project with other owners at the same site, and delivers it to the relay.
     *
     * @param other the other project's folder
     */
    public RelaySiteFiles beside(Path other) throws IOException {
        try {
            RelaySiteFiles made = project(folder, Files.createDirectories(other), siteKey.orElseThrow());
            made.deliverProject();
            return made;
        } catch (GeneralSecurityException e) {
            throw new IOException("site of the lab: " + e.getMessage(), e);
        }
    }

    private static RelaySiteFiles project(Path folder, Path documents, SigningKey siteKey)
            throws GeneralSecurityException, IOException {
        List<KeyPair> owners = List.of(pair(SignatureCurve.P384), pair(SignatureCurve.P384));
        SigningKey owner = SigningKey.of(owners.get(0));
        Files.write(documents.resolve(GENESIS), genesis(owner, SigningKey.of(owners.get(1))));
        RelaySiteFiles made = new RelaySiteFiles(folder, documents, Optional.of(siteKey), owners);
        CertificateAuthority authority = made.authority(owner);
        Files.write(documents.resolve("approval.json"), approval(made.project, 1, QUOTA, siteKey));
        Files.write(documents.resolve("less.json"), approval(made.project, 2, NOTHING, siteKey));
        Files.write(documents.resolve("again.json"), approval(made.project, 3, QUOTA, siteKey));
        Files.write(documents.resolve("owner.crl"), list(authority));
        for (CertificateName name :
                List.of(made.device(), made.member(), made.exporter(), made.opener(), made.controller())) {
            made.issue(authority, name);
        }
        return made;
    }

    private CertificateAuthority authority(SigningKey owner) throws GeneralSecurityException, IOException {
        return CertificateAuthority.ofProject(
                project,
                SubjectPublicKey.of(owner.verificationKey()),
                owner::sign,
                Instant.now(),
                MONTH,
                new SecureRandom());
    }

    /** Returns the owners' keys; both must sign what binds the project. */
    public List<KeyPair> owners() {
        return owners;
    }

    /** Returns the project's genesis document. */
    public Path genesis() {
        return documents.resolve(GENESIS);
    }

    /** Certifies another opener and member by the second owner, whose revocations the relay receives. */
    public void enrol(String person) throws IOException {
        try {
            CertificateAuthority authority = authority(SigningKey.of(owners.get(1)));
            for (CertificateRole role :
                    List.of(CertificateRole.DEVICE, CertificateRole.OPENER, CertificateRole.MEMBER)) {
                issue(authority, new CertificateName(person, role.toString(), project));
            }
            // An owner who has issued nothing yet has published no list yet.
            Files.write(documents.resolve(SECOND), list(authority));
            deliver(documents.resolve(SECOND));
        } catch (GeneralSecurityException e) {
            throw new IOException("site of the lab: " + e.getMessage(), e);
        }
    }

    public CertificateName device() {
        return new CertificateName("p1", CertificateRole.DEVICE.toString(), project);
    }

    public CertificateName member() {
        return new CertificateName("p1", CertificateRole.MEMBER.toString(), project);
    }

    public CertificateName exporter() {
        return new CertificateName("p1", CertificateRole.EXPORTER.toString(), project);
    }

    public CertificateName opener() {
        return new CertificateName("p1", CertificateRole.OPENER.toString(), project);
    }

    public CertificateName controller() {
        return new CertificateName("c", CertificateRole.CONTROLLER.toString(), project);
    }

    /** Writes the relay's configuration, for a port of loopback. */
    public Path relayConfig(int port) throws IOException {
        Path state = Files.createDirectories(folder.resolve("state"));
        String text = "listen = \"127.0.0.1:" + port + "\"\n"
                + "certificate = \"" + certificate(RELAY) + "\"\n"
                + "key = \"" + key(RELAY) + "\"\n"
                + "site = \"" + siteCertificate() + "\"\n"
                + "state = \"" + state + "\"\n"
                + "socket = \"" + socket() + "\"\n";
        return Files.writeString(folder.resolve("relay.toml"), text);
    }

    /** Returns the operators' socket. */
    public Path socket() {
        return folder.resolve("s");
    }

    /** Waits for the operators' socket, which opens after that for agents; a killed relay leaves its name. */
    public static void awaitOperators(Path socket) throws IOException {
        Poll.until("operators' socket " + socket, TIMEOUT, "read the relay's log", () -> {
            try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                return channel.isConnected();
            } catch (SocketException e) {
                return false;
            }
        });
    }

    /** Delivers the project and the site's list to the relay. */
    public void deliver() throws IOException {
        awaitOperators(socket());
        deliverProject();
        deliver(folder.resolve(SITES));
    }

    private void deliverProject() throws IOException {
        for (String each : DELIVERIES) {
            deliver(documents.resolve(each));
        }
    }

    /** Delivers an approval without any quota: the project gets nothing more from now on. */
    public void starve() throws IOException {
        deliver(documents.resolve("less.json"));
    }

    /** Delivers an approval with the first quota, after {@link #starve}. */
    public void feed() throws IOException {
        deliver(documents.resolve("again.json"));
    }

    private void deliver(Path each) throws IOException {
        byte[] body = Files.readAllBytes(each);
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket()))) {
            String head = "POST /deliveries HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length + "\r\n\r\n";
            ByteBuffer request = ByteBuffer.allocate(head.length() + body.length);
            request.put(head.getBytes(StandardCharsets.US_ASCII)).put(body).flip();
            while (request.hasRemaining()) {
                channel.write(request);
            }
            String answer = new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
            if (!answer.startsWith("HTTP/1.1 200 ")) {
                throw new LabException("agent-relay: " + each + ": " + answer, "read its log");
            }
        }
    }

    /** Returns the trust store of an agent that has received no revocation list yet. */
    public TrustStore beliefs() throws IOException {
        List<VerificationKey> keys = new ArrayList<>();
        for (X509Certificate each : PemCredentialFile.certificates(siteCertificate())) {
            keys.add(VerificationKey.of(each.getPublicKey()));
        }
        ProjectHistory history = ProjectHistory.fromGenesis(Files.readAllBytes(genesis()));
        TrustAnchors anchors = TrustAnchors.none().withSite(keys).withProject(history);
        return new TrustStore(anchors, RevocationLists.none(), InstantSource.system());
    }

    public TlsCredential credential(CertificateName name) throws IOException {
        return PemCredentialFile.read(certificate(name), key(name));
    }

    /** Returns the many hosts' credentials. */
    public List<TlsCredential> hosts() throws IOException {
        PrivateKey key = credential(HOST).key();
        List<TlsCredential> hosts = new ArrayList<>();
        try (InputStream all = Files.newInputStream(folder.resolve(HOSTS))) {
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(all)) {
                hosts.add(new TlsCredential(key, List.of((X509Certificate) each)));
            }
        } catch (CertificateException e) {
            throw new IOException(folder + ": " + e.getMessage(), e);
        }
        return hosts;
    }

    /** Returns the site authority's own certificate, in PEM. */
    public Path siteCertificate() {
        return folder.resolve(SITE);
    }

    public Path certificate(CertificateName name) {
        return of(name, ".pem");
    }

    public Path key(CertificateName name) {
        return of(name, ".key");
    }

    private Path of(CertificateName name, String end) {
        Path whose = name.project().equals(CertificateName.SITE) ? folder : documents;
        return whose.resolve(name.id() + "." + name.role() + end);
    }

    public static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static byte[] genesis(SigningKey owner, SigningKey second) throws GeneralSecurityException {
        ProjectOwners.Owner ann = new ProjectOwners.Owner("ann", owner.verificationKey());
        ProjectOwners.Owner ben = new ProjectOwners.Owner("ben", second.verificationKey());
        ProjectOwners owners = new ProjectOwners(2, List.of(ann, ben));
        byte[] payload = ProjectDocument.genesis(owners, Instant.now(), new SecureRandom());
        return DsseEnvelope.sign(ProjectDocument.GENESIS, payload, owner)
                .countersign(second)
                .bytes();
    }

    private static byte[] approval(String project, long number, ProjectApproval.Quota quota, SigningKey site)
            throws GeneralSecurityException {
        Instant from = Instant.now().minusSeconds(60);
        ProjectApproval approval = new ProjectApproval(project, number, "lab", from, from.plus(MONTH), quota);
        return DsseEnvelope.sign(ProjectApproval.TYPE, approval.payload(), site).bytes();
    }

    private static byte[] list(CertificateAuthority of) throws IOException {
        return of.revoke(List.of(), BigInteger.ONE, Instant.now(), DAY);
    }

    private KeyPair issue(CertificateAuthority authority, CertificateName name)
            throws GeneralSecurityException, IOException {
        KeyPair pair = pair(CertificateRole.of(name.role()).orElseThrow().curve());
        SubjectPublicKey subject = SubjectPublicKey.of(VerificationKey.of(pair.getPublic()));
        write(certificate(name), List.of(authority.issue(name, subject, Instant.now(), DAY)));
        Files.writeString(key(name), pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
        Files.setPosixFilePermissions(key(name), PosixFilePermissions.fromString("rw-------"));
        return pair;
    }

    private void issueMany(CertificateAuthority site, KeyPair pair, int count) throws IOException {
        SubjectPublicKey subject = SubjectPublicKey.of(VerificationKey.of(pair.getPublic()));
        List<byte[]> certificates = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            certificates.add(site.issue(
                    new CertificateName("m" + i, "host", CertificateName.SITE), subject, Instant.now(), DAY));
        }
        write(folder.resolve(HOSTS), certificates);
    }

    private static void write(Path file, List<byte[]> certificates) throws IOException {
        Files.writeString(
                file, certificates.stream().map(der -> pem("CERTIFICATE", der)).collect(Collectors.joining()));
    }

    private static String pem(String kind, byte[] der) {
        return "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + kind
                + "-----\n";
    }

    private static KeyPair pair(SignatureCurve curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return generator.generateKeyPair();
    }
}
