package org.cloister.protocol.identity;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.CRLNumber;
import org.bouncycastle.asn1.x509.CRLReason;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.asn1.x509.NameConstraints;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509ExtensionUtils;
import org.bouncycastle.cert.X509v2CRLBuilder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.bc.BcX509ExtensionUtils;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.RuntimeOperatorException;

/**
 * A small issuing authority of one project. What it may certify is in its own certificate, where others check it: dNSNames
 * below one suffix and subjects of one project, every other kind of name excluded, and no deeper than its path length.
 */
public final class Authority {
    /** A leaf's longest life. */
    public static final Duration LEAF = Duration.ofHours(24);
    /** A delegated authority's. */
    public static final Duration DELEGATED = Duration.ofDays(31);
    /** The project's own. */
    public static final Duration ROOT = Duration.ofDays(3660);

    /** RFC 5280 allows 20 octets; 128 random bits are never twice the same. */
    private static final int SERIAL_BITS = 128;

    private static final KeyPurposeId IKE = KeyPurposeId.getInstance(new ASN1ObjectIdentifier("1.3.6.1.5.5.7.3.17"));
    private static final X509ExtensionUtils IDENTIFIERS = new BcX509ExtensionUtils();

    private final X509CertificateHolder own;
    private final X509CertificateHolder ownForIke;
    private final String project;
    private final String suffix;
    private final int depth;
    private final Signer signer;
    private final SecureRandom random;

    private Authority(
            X509CertificateHolder own,
            X509CertificateHolder ownForIke,
            String project,
            String suffix,
            int depth,
            Signer signer,
            SecureRandom random) {
        this.own = own;
        this.ownForIke = ownForIke;
        this.project = project;
        this.suffix = suffix;
        this.depth = depth;
        this.signer = signer;
        this.random = random;
    }

    /** The project's own authority: certifies any role, and authorities for one role each. */
    public static Authority ofProject(
            String project, SubjectKey key, Signer signer, Instant now, Duration lifetime, SecureRandom random)
            throws RefusedException {
        String suffix = Name.ofProject(project);
        X500Name name = subject(project, "authority");
        Validity validity = Validity.of(now, lifetime, ROOT);
        CaTerms terms = new CaTerms(project, suffix, 1);
        X509CertificateHolder whole = certificate(
                builder(name, name, key, validity, serial(random)),
                key,
                key.info(),
                terms,
                terms.constraints(),
                signer);
        X509CertificateHolder forIke = certificate(
                builder(name, name, key, validity, serial(random)),
                key,
                key.info(),
                terms,
                terms.constraintsForIke(),
                signer);
        return new Authority(whole, forIke, project, suffix, 1, signer, random);
    }

    /** An authority for one role, such as a controlling VM's for its workers, which can have none below it. */
    public Authority delegate(String role, SubjectKey key, Signer theirs, Instant now, Duration lifetime)
            throws RefusedException {
        if (depth == 0) {
            throw new RefusedException(
                    "authority for " + role, "a path length above 0", "0", "ask the project's own authority");
        }
        String below = Name.ofRole(role, project);
        X509v3CertificateBuilder builder = builder(
                own.getSubject(), subject(project, role), key, within(now, lifetime, DELEGATED), serial(random));
        CaTerms terms = new CaTerms(project, below, 0);
        X509CertificateHolder certificate =
                certificate(builder, key, own.getSubjectPublicKeyInfo(), terms, terms.constraints(), signer);
        return new Authority(certificate, certificate, project, below, 0, theirs, random);
    }

    /** @return a certificate in DER for IKE and TLS, at both ends of either */
    public byte[] issue(Name name, SubjectKey key, Instant now, Duration lifetime) throws IOException {
        if (!name.toString().endsWith("." + suffix)) {
            throw new RefusedException(
                    "certificate for " + name, "a name below " + suffix, name.toString(), "ask its own authority");
        }
        X509v3CertificateBuilder builder = builder(
                own.getSubject(), subject(project, name.id()), key, within(now, lifetime, LEAF), serial(random));
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(new KeyPurposeId[] {
            KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth, IKE
        }));
        builder.addExtension(
                Extension.subjectAlternativeName,
                false,
                new GeneralNames(new GeneralName(GeneralName.dNSName, name.toString())));
        identifiers(builder, key, own.getSubjectPublicKeyInfo());
        return builder.build(new Content(signer)).getEncoded();
    }

    /**
     * A list of revoked certificates.
     *
     * @param number higher than that of each list before
     * @param lifetime until the next one must be there
     */
    public byte[] revoke(Collection<Revocation> revoked, BigInteger number, Instant now, Duration lifetime)
            throws IOException {
        Validity validity = within(now, lifetime, LEAF);
        X509v2CRLBuilder builder = new X509v2CRLBuilder(own.getSubject(), Date.from(validity.from()));
        builder.setNextUpdate(Date.from(validity.to()));
        revoked.forEach(each -> builder.addCRLEntry(each.serial(), Date.from(each.at()), CRLReason.unspecified));
        builder.addExtension(Extension.cRLNumber, false, new CRLNumber(number));
        builder.addExtension(
                Extension.authorityKeyIdentifier,
                false,
                IDENTIFIERS.createAuthorityKeyIdentifier(own.getSubjectPublicKeyInfo()));
        return builder.build(new Content(signer)).getEncoded();
    }

    /** One that does not hold any more, though its time has not come. */
    public record Revocation(BigInteger serial, Instant at) {}

    /** Its own certificate in DER. */
    public byte[] certificate() {
        return encoded(own);
    }

    /**
     * The same name and key in a certificate that strongSwan 5.9 can check, with constraints on dNSNames and subjects alone:
     * for charon, which believes dNSNames alone, and nobody else.
     */
    public byte[] certificateForIke() {
        return encoded(ownForIke);
    }

    private static byte[] encoded(X509CertificateHolder certificate) {
        try {
            return certificate.getEncoded();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private Validity within(Instant now, Duration lifetime, Duration longest) throws RefusedException {
        Validity validity = Validity.of(now, lifetime, longest);
        Instant end = own.getNotAfter().toInstant();
        if (validity.to().isAfter(end)) {
            throw new RefusedException(
                    "lifetime",
                    "an end before the authority's own, " + end,
                    validity.to().toString(),
                    "renew the authority");
        }
        return validity;
    }

    private static X509CertificateHolder certificate(
            X509v3CertificateBuilder builder,
            SubjectKey key,
            SubjectPublicKeyInfo issuer,
            CaTerms terms,
            NameConstraints constraints,
            Signer signer) {
        try {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(terms.depth()));
            builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
            builder.addExtension(Extension.nameConstraints, true, constraints);
            identifiers(builder, key, issuer);
            return builder.build(new Content(signer));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void identifiers(X509v3CertificateBuilder builder, SubjectKey key, SubjectPublicKeyInfo issuer)
            throws IOException {
        builder.addExtension(Extension.subjectKeyIdentifier, false, IDENTIFIERS.createSubjectKeyIdentifier(key.info()));
        builder.addExtension(Extension.authorityKeyIdentifier, false, IDENTIFIERS.createAuthorityKeyIdentifier(issuer));
    }

    private static X509v3CertificateBuilder builder(
            X500Name issuer, X500Name subject, SubjectKey key, Validity validity, BigInteger serial) {
        return new X509v3CertificateBuilder(
                issuer, serial, Date.from(validity.from()), Date.from(validity.to()), subject, key.info());
    }

    /** For people; who somebody is only the dNSName says. */
    private static X500Name subject(String project, String name) {
        return new X500Name("O=" + project + ",CN=" + name);
    }

    private static BigInteger serial(SecureRandom random) {
        BigInteger serial;
        do {
            serial = new BigInteger(SERIAL_BITS, random);
        } while (serial.signum() == 0);
        return serial;
    }

    /** Hands what is to be signed to the signer. */
    private static final class Content implements ContentSigner {
        private final ByteArrayOutputStream content = new ByteArrayOutputStream();
        private final Signer signer;

        Content(Signer signer) {
            this.signer = signer;
        }

        @Override
        public AlgorithmIdentifier getAlgorithmIdentifier() {
            return new AlgorithmIdentifier(X9ObjectIdentifiers.ecdsa_with_SHA384);
        }

        @Override
        public OutputStream getOutputStream() {
            return content;
        }

        @Override
        public byte[] getSignature() {
            try {
                return signer.sign(content.toByteArray());
            } catch (GeneralSecurityException e) {
                throw new RuntimeOperatorException("signature of an authority: " + e.getMessage(), e);
            }
        }
    }
}
