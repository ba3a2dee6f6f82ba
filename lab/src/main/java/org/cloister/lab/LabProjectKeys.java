package org.cloister.lab;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelCredential;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.ipsec.vici.PrivateKeySource;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.IkeTrustAnchors;
import org.cloister.protocol.identity.SubjectPublicKey;

/** Authorities of a project as its owners and its controlling VM have them, with worthless keys. */
public final class LabProjectKeys {
    private final CertificateAuthority controllers;
    private final CertificateAuthority workers;
    private final IkeTrustAnchors anchors;
    private BigInteger lastSerial = BigInteger.ZERO;

    private LabProjectKeys(CertificateAuthority controllers, CertificateAuthority workers, IkeTrustAnchors anchors) {
        this.controllers = controllers;
        this.workers = workers;
        this.anchors = anchors;
    }

    public static LabProjectKeys create(String project) throws IOException {
        KeyPair owner = pair();
        // Older than what it certifies: a scenario may want a certificate of some days ago.
        Instant before = Instant.now().minus(Duration.ofDays(3));
        CertificateAuthority root = CertificateAuthority.ofProject(
                project,
                key(owner),
                CertificateSigner.of(owner.getPrivate()),
                before,
                Duration.ofDays(30),
                new SecureRandom());
        return new LabProjectKeys(
                delegate(root, "controller", before),
                delegate(root, "worker", before),
                IkeTrustAnchors.create(project, before, new SecureRandom()));
    }

    private static CertificateAuthority delegate(CertificateAuthority root, String role, Instant at)
            throws IOException {
        KeyPair pair = pair();
        return root.delegate(role, key(pair), CertificateSigner.of(pair.getPrivate()), at, Duration.ofDays(10));
    }

    public CertificateAuthority workers() {
        return workers;
    }

    /** Returns the serial number of the certificate that was issued last. */
    public BigInteger lastSerial() {
        return lastSerial;
    }

    /** Returns what a VM makes for its charon of the authorities that it has verified. */
    public List<DerCertificate> authorities() throws IOException {
        List<DerCertificate> authorities = new ArrayList<>();
        for (byte[] each : anchors.certificatesFor(List.of(controllers.certificate(), workers.certificate()))) {
            authorities.add(DerCertificate.parse(each));
        }
        return authorities;
    }

    /** Returns a plan without peers, with a fresh key and certificate. */
    public TunnelPlan plan(TunnelIdentity self, Ipv4Address local, Duration lifetime) throws IOException {
        return planAt(self, local, Instant.now(), lifetime);
    }

    public TunnelPlan planAt(TunnelIdentity self, Ipv4Address local, Instant issued, Duration lifetime)
            throws IOException {
        return TunnelPlan.of(self, local, issue(self, issued, lifetime), authorities(), EspMode.USERSPACE);
    }

    /** Writes a fresh key and its certificate as files, for programs that accept only files. */
    public void write(TunnelIdentity identity, Path certificate, Path key) throws IOException {
        KeyPair pair = pair();
        Files.write(certificate, certify(identity, pair, Instant.now(), CertificateAuthority.LEAF));
        Files.write(key, pair.getPrivate().getEncoded());
    }

    private TunnelCredential issue(TunnelIdentity identity, Instant at, Duration lifetime) throws IOException {
        KeyPair pair = pair();
        return new TunnelCredential(
                DerCertificate.parse(certify(identity, pair, at, lifetime)),
                secret(pair.getPrivate().getEncoded()));
    }

    private byte[] certify(TunnelIdentity identity, KeyPair pair, Instant at, Duration lifetime) throws IOException {
        CertificateAuthority authority = identity.role().equals("worker") ? workers : controllers;
        byte[] der = authority.issue(
                new CertificateName(identity.id(), identity.role(), identity.project()), key(pair), at, lifetime);
        try {
            lastSerial = ((X509Certificate)
                            CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der)))
                    .getSerialNumber();
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
        return der;
    }

    private static PrivateKeySource secret(byte[] pkcs8) {
        return new PrivateKeySource() {
            @Override
            public int length() {
                return pkcs8.length;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                target.put(pkcs8);
            }
        };
    }

    private static SubjectPublicKey key(KeyPair pair) throws IOException {
        return SubjectPublicKey.parse(pair.getPublic().getEncoded());
    }

    private static KeyPair pair() throws IOException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp384r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }
}
