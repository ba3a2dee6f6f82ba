package org.cloister.relay.links;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.transport.tls.TlsCredential;

/** A site and two projects that it serves, as their keys make them. */
public final class TestSite {
    static final Duration DAY = Duration.ofHours(24);
    public static final ProjectApproval.Quota QUOTA = new ProjectApproval.Quota(4, 64, 1 << 18, 8, 100, 20);

    public final SigningKey key = SigningKey.of(pair(SignatureCurve.P256));
    public final CertificateAuthority authority;
    public final Project a = new Project();
    public final Project b = new Project();

    /** Two owners, the first of whom certifies everybody. */
    public static final class Project {
        public final SigningKey ann = SigningKey.of(pair(SignatureCurve.P384));
        public final SigningKey ben = SigningKey.of(pair(SignatureCurve.P384));
        public final byte[] genesis;
        public final ProjectHistory history;
        public final CertificateAuthority authority;

        private Project() throws IOException, GeneralSecurityException {
            ProjectOwners owners = new ProjectOwners(
                    2,
                    List.of(
                            new ProjectOwners.Owner("ann", ann.verificationKey()),
                            new ProjectOwners.Owner("ben", ben.verificationKey())));
            genesis = sign(
                    ProjectDocument.GENESIS,
                    ProjectDocument.genesis(owners, Instant.now(), new SecureRandom()),
                    ann,
                    ben);
            history = ProjectHistory.fromGenesis(genesis);
            authority = CertificateAuthority.ofProject(
                    history.id(), subject(ann), ann::sign, Instant.now(), DAY.multipliedBy(30), new SecureRandom());
        }

        public String id() {
            return history.id();
        }

        public CertificateName name(String id, CertificateRole role) {
            return new CertificateName(id, role.toString(), id());
        }
    }

    public TestSite() throws IOException, GeneralSecurityException {
        authority = CertificateAuthority.ofSite(
                subject(key), key::sign, Instant.now(), DAY.multipliedBy(30), new SecureRandom());
    }

    public TrustAnchors anchors() {
        return TrustAnchors.none()
                .withSite(List.of(key.verificationKey()))
                .withProject(a.history)
                .withProject(b.history);
    }

    /** The first of each, which revoke nothing. */
    List<byte[]> lists() throws IOException {
        return List.of(list(authority, 1), list(a.authority, 1), list(b.authority, 1));
    }

    /** All that a new relay is told, in an order that it takes. */
    public List<byte[]> deliveries() throws IOException, GeneralSecurityException {
        List<byte[]> all = new ArrayList<>(List.of(a.genesis, b.genesis, approval(a, 1, QUOTA), approval(b, 1, QUOTA)));
        all.addAll(lists());
        return all;
    }

    CertificateAuthority authorityOf(String project) {
        return project.equals(CertificateName.SITE) ? authority : project.equals(a.id()) ? a.authority : b.authority;
    }

    /** One that has ended, and so withdraws those before it. */
    public byte[] ended(Project project, long number) throws GeneralSecurityException {
        Instant now = Instant.now();
        ProjectApproval approval =
                new ProjectApproval(project.id(), number, "chem", now.minusSeconds(60), now.minusSeconds(30), QUOTA);
        return sign(ProjectApproval.TYPE, approval.payload(), key);
    }

    public byte[] approval(Project project, long number, ProjectApproval.Quota quota) throws GeneralSecurityException {
        return approval(project.id(), number, quota);
    }

    byte[] approval(String project, long number, ProjectApproval.Quota quota) throws GeneralSecurityException {
        Instant now = Instant.now();
        ProjectApproval approval = new ProjectApproval(
                project, number, "chem", now.minusSeconds(60), now.plus(DAY.multipliedBy(30)), quota);
        return sign(ProjectApproval.TYPE, approval.payload(), key);
    }

    public static byte[] list(CertificateAuthority of, long number, TlsCredential... revoked) throws IOException {
        return list(of, number, DAY, revoked);
    }

    static byte[] list(CertificateAuthority of, long number, Duration lifetime, TlsCredential... revoked)
            throws IOException {
        return of.revoke(
                Arrays.stream(revoked)
                        .map(each -> new CertificateAuthority.Revocation(
                                each.chain().get(0).getSerialNumber(), Instant.now()))
                        .toList(),
                BigInteger.valueOf(number),
                Instant.now(),
                lifetime);
    }

    TlsCredential credential(CertificateName name) throws IOException, GeneralSecurityException {
        return credential(name, name.project());
    }

    /** Of a key that the caller has, for a life that the caller wants. */
    public TlsCredential credential(CertificateName name, KeyPair pair, Duration lifetime) throws IOException {
        SubjectPublicKey subject = SubjectPublicKey.of(VerificationKey.of(pair.getPublic()));
        byte[] der = authorityOf(name.project()).issue(name, subject, Instant.now(), lifetime);
        return TlsCredential.of(pair.getPrivate(), List.of(der));
    }

    /** Of an authority that may not have the right to it. */
    TlsCredential credential(CertificateName name, String project) throws IOException, GeneralSecurityException {
        KeyPair pair = pair(CertificateRole.of(name.role()).orElseThrow().curve());
        SubjectPublicKey subject = SubjectPublicKey.of(VerificationKey.of(pair.getPublic()));
        byte[] der = authorityOf(project).issue(name, subject, Instant.now(), DAY);
        return TlsCredential.of(pair.getPrivate(), List.of(der));
    }

    public static KeyPair pair(SignatureCurve curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return generator.generateKeyPair();
    }

    private static SubjectPublicKey subject(SigningKey key) {
        return SubjectPublicKey.of(key.verificationKey());
    }

    public static byte[] sign(String type, byte[] payload, SigningKey... keys) throws GeneralSecurityException {
        DsseEnvelope envelope = DsseEnvelope.sign(type, payload, keys[0]);
        for (SigningKey key : Arrays.asList(keys).subList(1, keys.length)) {
            envelope = envelope.countersign(key);
        }
        return envelope.bytes();
    }
}
