package org.cloister.protocol.identity;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/** Certificate that matches the profile of docs/protocol.md, section 3; its signature is not yet verified. */
record ParsedCertificate(X509Certificate x509, VerificationKey key, List<String> permitted, String subject) {
    /** The tag of RFC 5280, section 4.2.1.6. */
    static final int DNS_NAME = 2;

    private static final int VERSION = 3;
    private static final String KEY_USAGE = "2.5.29.15";
    private static final String BASIC_CONSTRAINTS = "2.5.29.19";
    private static final String NAME_CONSTRAINTS = "2.5.29.30";
    private static final Set<String> LEAF_CRITICAL = Set.of(KEY_USAGE, BASIC_CONSTRAINTS);
    private static final Set<String> AUTHORITY_CRITICAL = Set.of(KEY_USAGE, BASIC_CONSTRAINTS, NAME_CONSTRAINTS);
    private static final List<String> PURPOSES = List.of("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2");

    /** Bits of RFC 5280, section 4.2.1.3, in the order of {@link X509Certificate#getKeyUsage}. */
    private static final boolean[] SIGNS = {true, false, false, false, false, false, false, false, false};

    private static final boolean[] CERTIFIES = {false, false, false, false, false, true, true, false, false};

    static ParsedCertificate leaf(X509Certificate x509, String subject, CertificateRole role)
            throws IdentityRefusedException {
        VerificationKey key = key(x509, subject);
        SignatureCurve curve = role.curve();
        if (key.curve() != curve) {
            throw new IdentityRefusedException(
                    IdentityClause.KEY,
                    subject,
                    curve.standardName(),
                    key.curve().standardName(),
                    "make another key");
        }
        requireCritical(x509, subject, LEAF_CRITICAL);
        requireUsage(x509.getBasicConstraints() < 0, subject, "no CA");
        requireUsage(Arrays.equals(x509.getKeyUsage(), SIGNS), subject, "keyUsage digitalSignature alone");
        requireUsage(purposes(x509).containsAll(PURPOSES), subject, "extKeyUsage serverAuth and clientAuth");
        requireLife(x509, subject, role.longestLife());
        return new ParsedCertificate(x509, key, List.of(), subject);
    }

    static ParsedCertificate authority(X509Certificate x509, String subject) throws IdentityRefusedException {
        VerificationKey key = key(x509, subject);
        requireCritical(x509, subject, AUTHORITY_CRITICAL);
        requireUsage(x509.getBasicConstraints() >= 0, subject, "a CA");
        requireUsage(x509.getBasicConstraints() < Integer.MAX_VALUE, subject, "a path length");
        requireUsage(Arrays.equals(x509.getKeyUsage(), CERTIFIES), subject, "keyUsage keyCertSign and cRLSign");
        requireLife(x509, subject, ValidityPeriod.DELEGATED);
        return new ParsedCertificate(x509, key, permitted(x509, subject), subject);
    }

    boolean permits(String dnsName) {
        return permitted.stream().anyMatch(each -> dnsName.equals(each) || dnsName.endsWith("." + each));
    }

    BigInteger serial() {
        return x509.getSerialNumber();
    }

    Instant notBefore() {
        return x509.getNotBefore().toInstant();
    }

    Instant notAfter() {
        return x509.getNotAfter().toInstant();
    }

    String issuerName() {
        return x509.getIssuerX500Principal().getName();
    }

    /** Returns the key, of those given, that signed the certificate. */
    Optional<VerificationKey> issuer(Collection<VerificationKey> keys) {
        return keys.stream().filter(this::isSignedBy).findFirst();
    }

    private boolean isSignedBy(VerificationKey anchor) {
        if (!x509.getSigAlgName().equals(SignatureAlgorithms.of(anchor.curve()))) {
            return false;
        }
        try {
            x509.verify(anchor.publicKey());
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    void requireTime(Instant now) throws IdentityRefusedException {
        Instant from = x509.getNotBefore().toInstant();
        if (now.isBefore(from) || now.isAfter(notAfter())) {
            throw new IdentityRefusedException(
                    IdentityClause.TIME,
                    subject,
                    "a time from " + from + " to " + notAfter(),
                    now.toString(),
                    now.isBefore(from) ? "set the clocks of both sides" : "renew it");
        }
    }

    private static VerificationKey key(X509Certificate x509, String subject) throws IdentityRefusedException {
        if (x509.getVersion() != VERSION) {
            throw new IdentityRefusedException(
                    IdentityClause.CERTIFICATE,
                    subject,
                    "version " + VERSION,
                    "version " + x509.getVersion(),
                    "have another issued");
        }
        if (!SignatureAlgorithms.SIGNATURES.contains(x509.getSigAlgName())) {
            throw new IdentityRefusedException(
                    IdentityClause.KEY,
                    subject,
                    "a signature by " + SignatureAlgorithms.SIGNATURES,
                    x509.getSigAlgName(),
                    "have another issued");
        }
        try {
            return VerificationKey.of(x509.getPublicKey());
        } catch (MalformedException e) {
            throw new IdentityRefusedException(
                    IdentityClause.KEY,
                    subject,
                    "ECDSA P-384 or P-256",
                    x509.getPublicKey().getAlgorithm(),
                    "make another key");
        }
    }

    private static void requireCritical(X509Certificate x509, String subject, Set<String> required)
            throws IdentityRefusedException {
        Set<String> have = x509.getCriticalExtensionOIDs();
        if (!required.equals(have)) {
            throw new IdentityRefusedException(
                    IdentityClause.CERTIFICATE,
                    subject,
                    "the critical extensions " + required,
                    String.valueOf(have),
                    "have one issued as section 3 has it");
        }
    }

    private static void requireUsage(boolean holds, String subject, String required) throws IdentityRefusedException {
        if (!holds) {
            throw new IdentityRefusedException(
                    IdentityClause.USAGE, subject, required, "another use", "have one issued as section 3 has it");
        }
    }

    private static List<String> purposes(X509Certificate x509) throws IdentityRefusedException {
        try {
            List<String> purposes = x509.getExtendedKeyUsage();
            return purposes == null ? List.of() : purposes;
        } catch (GeneralSecurityException e) {
            return List.of();
        }
    }

    private static void requireLife(X509Certificate x509, String subject, Duration longest)
            throws IdentityRefusedException {
        Duration lifetime = Duration.between(
                x509.getNotBefore().toInstant(), x509.getNotAfter().toInstant());
        if (lifetime.compareTo(longest.plus(ValidityPeriod.SKEW)) > 0) {
            throw new IdentityRefusedException(
                    IdentityClause.LIFETIME,
                    subject,
                    "at most " + longest.plus(ValidityPeriod.SKEW).toSeconds() + " s",
                    lifetime.toSeconds() + " s",
                    "have one issued for less");
        }
    }

    private static List<String> permitted(X509Certificate x509, String subject) throws IdentityRefusedException {
        try {
            return PermittedSubtrees.read(x509.getExtensionValue(NAME_CONSTRAINTS));
        } catch (MalformedException e) {
            throw new IdentityRefusedException(
                    IdentityClause.CONSTRAINT,
                    subject,
                    "permitted dNSNames",
                    String.valueOf(e.getMessage()),
                    "have one issued as section 3 has it");
        }
    }
}
