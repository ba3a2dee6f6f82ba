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
import java.util.List;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Certificate;
import org.cloister.ipsec.Credential;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Plan;
import org.cloister.ipsec.vici.Secret;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;

/** A project's authorities as its owners and its controlling VM will have them, with keys that are worth nothing. */
public final class ProjectKeys {
    private final Authority root;
    private final Authority controllers;
    private final Authority workers;
    private BigInteger lastSerial = BigInteger.ZERO;

    private ProjectKeys(Authority root, Authority controllers, Authority workers) {
        this.root = root;
        this.controllers = controllers;
        this.workers = workers;
    }

    public static ProjectKeys make(String project) throws IOException {
        KeyPair owner = pair();
        // Older than what it certifies: a scenario may want a certificate of some days ago.
        Instant before = Instant.now().minus(Duration.ofDays(3));
        Authority root = Authority.ofProject(
                project, key(owner), Signer.of(owner.getPrivate()), before, Duration.ofDays(30), new SecureRandom());
        return new ProjectKeys(root, delegate(root, "controller", before), delegate(root, "worker", before));
    }

    private static Authority delegate(Authority root, String role, Instant at) throws IOException {
        KeyPair pair = pair();
        return root.delegate(role, key(pair), Signer.of(pair.getPrivate()), at, Duration.ofDays(10));
    }

    public Authority workers() {
        return workers;
    }

    /** Of the certificate that was issued last. */
    public BigInteger lastSerial() {
        return lastSerial;
    }

    public List<Certificate> authorities() throws IOException {
        return List.of(
                Certificate.parse(root.certificateForIke()),
                Certificate.parse(controllers.certificate()),
                Certificate.parse(workers.certificate()));
    }

    /** A plan without peers, with a fresh key and certificate. */
    public Plan plan(Identity self, Address local, Duration lifetime) throws IOException {
        return planAt(self, local, Instant.now(), lifetime);
    }

    public Plan planAt(Identity self, Address local, Instant issued, Duration lifetime) throws IOException {
        return Plan.of(self, local, issue(self, issued, lifetime), authorities(), Esp.USERSPACE);
    }

    /** A fresh key and its certificate as files, for programs that take nothing else. */
    public void write(Identity identity, Path certificate, Path key) throws IOException {
        KeyPair pair = pair();
        Files.write(certificate, certify(identity, pair, Instant.now(), Authority.LEAF));
        Files.write(key, pair.getPrivate().getEncoded());
    }

    private Credential issue(Identity identity, Instant at, Duration lifetime) throws IOException {
        KeyPair pair = pair();
        return new Credential(
                Certificate.parse(certify(identity, pair, at, lifetime)),
                secret(pair.getPrivate().getEncoded()));
    }

    private byte[] certify(Identity identity, KeyPair pair, Instant at, Duration lifetime) throws IOException {
        Authority authority = identity.role().equals("worker") ? workers : controllers;
        byte[] der =
                authority.issue(new Name(identity.id(), identity.role(), identity.project()), key(pair), at, lifetime);
        try {
            lastSerial = ((X509Certificate)
                            CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der)))
                    .getSerialNumber();
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
        return der;
    }

    private static Secret secret(byte[] pkcs8) {
        return new Secret() {
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

    private static SubjectKey key(KeyPair pair) throws IOException {
        return SubjectKey.parse(pair.getPublic().getEncoded());
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
