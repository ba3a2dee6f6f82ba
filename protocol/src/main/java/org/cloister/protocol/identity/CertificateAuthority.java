package org.cloister.protocol.identity;

import java.io.IOException;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.CRLNumber;
import org.bouncycastle.asn1.x509.CRLReason;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.NameConstraints;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509v2CRLBuilder;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Issues certificates for one project or site. The authority's own certificate contains the constraints of what it
 * certifies, so that others verify them: dNSNames below its suffixes and subjects of one project, all other kinds of
 * names excluded, and no deeper than its path length. The profiles are in docs/protocol.md, section 3.
 */
public final class CertificateAuthority {
    /** Longest lifetime of a leaf. */
    public static final Duration LEAF = ValidityPeriod.LEAF;
    /** Longest lifetime of a delegated authority. */
    public static final Duration DELEGATED = ValidityPeriod.DELEGATED;
    /** Longest lifetime of a project's own authority, and of a site's. */
    public static final Duration ROOT = ValidityPeriod.ROOT;
    /** Longest lifetime of a project's revocation list; a site's is limited to that of a leaf. */
    public static final Duration PROJECT_LIST = ValidityPeriod.PROJECT_LIST;

    private static final int PROJECT_DEPTH = 2;

    private final X509CertificateHolder own;
    private final CaConstraints terms;
    private final VerificationKey key;
    private final CertificateSigner signer;
    private final SecureRandom random;

    private CertificateAuthority(
            X509CertificateHolder own,
            CaConstraints terms,
            VerificationKey key,
            CertificateSigner signer,
            SecureRandom random) {
        this.own = own;
        this.terms = terms;
        this.key = key;
        this.signer = signer;
        this.random = random;
    }

    /** Creates an owner's authority for a project: certifies any role, and authorities for parts of the project. */
    public static CertificateAuthority ofProject(
            String project,
            SubjectPublicKey key,
            CertificateSigner signer,
            Instant now,
            Duration lifetime,
            SecureRandom random)
            throws CertificationRefusedException {
        requireCurve("authority of project " + project, SignatureCurve.P384, key);
        return root(
                new CaConstraints(project, List.of(CertificateName.ofProject(project)), PROJECT_DEPTH),
                key,
                signer,
                ValidityPeriod.of(now, lifetime, ROOT),
                random);
    }

    /** Creates a site's authority: certifies hosts and relays, and no authority. */
    public static CertificateAuthority ofSite(
            SubjectPublicKey key, CertificateSigner signer, Instant now, Duration lifetime, SecureRandom random)
            throws CertificationRefusedException {
        requireCurve("authority of a site", SignatureCurve.P256, key);
        return root(
                new CaConstraints(CertificateName.SITE, List.of(CertificateName.ofProject(CertificateName.SITE)), 0),
                key,
                signer,
                ValidityPeriod.of(now, lifetime, ROOT),
                random);
    }

    private static CertificateAuthority root(
            CaConstraints terms,
            SubjectPublicKey key,
            CertificateSigner signer,
            ValidityPeriod validity,
            SecureRandom random) {
        X500Name name = subject(terms.project(), "authority");
        SignatureCurve curve = key.key().curve();
        X509CertificateHolder whole = CertificateBuilder.of(name, key.info(), name, key, validity, random)
                .authority(terms.depth(), terms.constraints(true))
                .sign(signer, curve);
        return new CertificateAuthority(whole, terms, key.key(), signer, random);
    }

    /**
     * Loads an authority with the certificate that was issued to it, which must be one of ours.
     *
     * @param signer has the certificate's key
     */
    public static CertificateAuthority load(byte[] certificate, CertificateSigner signer, SecureRandom random)
            throws IOException {
        AuthorityCertificate read = AuthorityCertificate.parse(certificate);
        return new CertificateAuthority(read.holder(), read.terms(), read.key(), signer, random);
    }

    /**
     * Creates an authority for one role, such as a controlling VM's for its workers; it can have no authority below it.
     */
    public CertificateAuthority delegate(
            String role, SubjectPublicKey key, CertificateSigner theirs, Instant now, Duration lifetime)
            throws CertificationRefusedException {
        CaConstraints below =
                new CaConstraints(terms.project(), List.of(CertificateName.ofRole(role, terms.project())), 0);
        X509CertificateHolder certificate = certify(role, below, key, now, lifetime);
        return new CertificateAuthority(certificate, below, key.key(), theirs, random);
    }

    /**
     * Issues a person's authority for the person's own names, in DER. An opener's may certify controlling VMs'
     * authorities.
     *
     * @param roles those that owners grant ({@link CertificateRole#isGiven}); the role of a device is added
     */
    public byte[] certifyPerson(
            String id, Set<CertificateRole> roles, SubjectPublicKey key, Instant now, Duration lifetime)
            throws IOException {
        if (roles.isEmpty() || !roles.stream().allMatch(CertificateRole::isGiven)) {
            throw new CertificationRefusedException(
                    "roles of " + id, "some of opener, member and exporter", roles.toString(), "name others");
        }
        List<String> names = new ArrayList<>();
        names.add(new CertificateName(id, CertificateRole.DEVICE.toString(), terms.project()).toString());
        roles.stream()
                .sorted()
                .forEach(role -> names.add(new CertificateName(id, role.toString(), terms.project()).toString()));
        boolean opens = roles.contains(CertificateRole.OPENER);
        if (opens) {
            names.add(CertificateName.ofRole(CertificateRole.CONTROLLER.toString(), terms.project()));
            names.add(CertificateName.ofRole(CertificateRole.WORKER.toString(), terms.project()));
        }
        return certify(id, new CaConstraints(terms.project(), names, opens ? 1 : 0), key, now, lifetime)
                .getEncoded();
    }

    /** Issues a controlling VM's authority for its own name and its workers', in DER. */
    public byte[] certifyController(String id, SubjectPublicKey key, Instant now, Duration lifetime)
            throws IOException {
        List<String> names = List.of(
                new CertificateName(id, CertificateRole.CONTROLLER.toString(), terms.project()).toString(),
                CertificateName.ofRole(CertificateRole.WORKER.toString(), terms.project()));
        return certify(id, new CaConstraints(terms.project(), names, 0), key, now, lifetime)
                .getEncoded();
    }

    private X509CertificateHolder certify(
            String id, CaConstraints below, SubjectPublicKey key, Instant now, Duration lifetime)
            throws CertificationRefusedException {
        if (below.depth() >= terms.depth()) {
            throw new CertificationRefusedException(
                    "authority for " + id,
                    "a path length above " + below.depth(),
                    String.valueOf(terms.depth()),
                    "ask the project's own authority");
        }
        for (String suffix : below.suffixes()) {
            requirePermitted("authority for " + id, suffix);
        }
        requireCurve("authority for " + id, SignatureCurve.P384, key);
        NameConstraints constraints = below.depth() == 0 ? below.constraints(false) : below.constraintsForIke();
        return draft(subject(terms.project(), id), key, now, lifetime, DELEGATED)
                .authority(below.depth(), constraints)
                .sign(signer, this.key.curve());
    }

    /**
     * Issues a leaf certificate.
     *
     * @return a certificate in DER for IKE and TLS, at both ends of either
     */
    public byte[] issue(CertificateName name, SubjectPublicKey key, Instant now, Duration lifetime) throws IOException {
        requirePermitted("certificate for " + name, name.toString());
        Optional<CertificateRole> role = CertificateRole.of(name.role());
        if (role.isEmpty() || role.get().isSite() != terms.project().equals(CertificateName.SITE)) {
            throw new CertificationRefusedException(
                    "certificate for " + name, "a role of the protocol", name.role(), "name another role");
        }
        requireCurve("certificate for " + name, role.get().curve(), key);
        return draft(leafSubject(name), key, now, lifetime, role.get().longestLife())
                .leaf(name)
                .sign(signer, this.key.curve())
                .getEncoded();
    }

    /**
     * Issues a revocation list.
     *
     * @param number higher than that of each earlier list
     * @param lifetime time until the next list must exist
     */
    public byte[] revoke(Collection<Revocation> revoked, BigInteger number, Instant now, Duration lifetime)
            throws IOException {
        ValidityPeriod validity = within(
                now, lifetime, terms.project().equals(CertificateName.SITE) ? ValidityPeriod.SITE_LIST : PROJECT_LIST);
        X509v2CRLBuilder builder = new X509v2CRLBuilder(own.getSubject(), Date.from(validity.notBefore()));
        builder.setNextUpdate(Date.from(validity.notAfter()));
        revoked.forEach(each -> builder.addCRLEntry(each.serial(), Date.from(each.at()), CRLReason.unspecified));
        builder.addExtension(Extension.cRLNumber, false, new CRLNumber(number));
        builder.addExtension(
                Extension.authorityKeyIdentifier,
                false,
                CertificateBuilder.identifiers().createAuthorityKeyIdentifier(own.getSubjectPublicKeyInfo()));
        return builder.build(new CertificateBuilder.Content(signer, key.curve()))
                .getEncoded();
    }

    /** Certificate that is revoked before its expiry. */
    public record Revocation(BigInteger serial, Instant at) {}

    /** Returns the names that it may certify: whole dNSNames, or suffixes of them. */
    public List<String> permitted() {
        return terms.suffixes();
    }

    /** Returns the time after which it certifies nothing. */
    public Instant notAfter() {
        return own.getNotAfter().toInstant();
    }

    /** Returns the key that verifies its signatures. */
    public VerificationKey key() {
        return key;
    }

    /** Returns its own certificate in DER. */
    public byte[] certificate() {
        return encoded(own);
    }

    private static byte[] encoded(X509CertificateHolder certificate) {
        try {
            return certificate.getEncoded();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private CertificateBuilder draft(
            X500Name subject, SubjectPublicKey key, Instant now, Duration lifetime, Duration longest)
            throws CertificationRefusedException {
        return CertificateBuilder.of(
                own.getSubject(), own.getSubjectPublicKeyInfo(), subject, key, within(now, lifetime, longest), random);
    }

    private void requirePermitted(String subject, String dnsName) throws CertificationRefusedException {
        if (!terms.permits(dnsName)) {
            throw new CertificationRefusedException(
                    subject, "a name below " + String.join(" or ", terms.suffixes()), dnsName, "ask its own authority");
        }
    }

    private static void requireCurve(String subject, SignatureCurve curve, SubjectPublicKey key)
            throws CertificationRefusedException {
        SignatureCurve have = key.key().curve();
        if (have != curve) {
            throw new CertificationRefusedException(
                    subject, curve.standardName(), have.standardName(), "make another key");
        }
    }

    private ValidityPeriod within(Instant now, Duration lifetime, Duration longest)
            throws CertificationRefusedException {
        ValidityPeriod validity = ValidityPeriod.of(now, lifetime, longest);
        Instant end = own.getNotAfter().toInstant();
        if (validity.notAfter().isAfter(end)) {
            throw new CertificationRefusedException(
                    "lifetime",
                    "an end before the authority's own, " + end,
                    validity.notAfter().toString(),
                    "renew the authority");
        }
        return validity;
    }

    /** Returns a subject for people; only the dNSName identifies the holder. */
    static X500Name leafSubject(CertificateName name) {
        return new X500Name("O=" + name.project() + ",CN=" + name.id());
    }

    /**
     * Returns an authority's subject without a common name: Java interprets a common name as a dNSName where there is
     * no other, and an authority has none.
     */
    static X500Name subject(String project, String name) {
        return new X500Name("O=" + project + ",OU=" + name);
    }
}
