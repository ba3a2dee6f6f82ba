package org.cloister.protocol.identity;

import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.PKIXReason;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Leaf certificate and the authorities above it, without the self-signed one; docs/protocol.md, section 3. An existing
 * object is well-formed, but not yet verified. Uses the runtime's own classes alone.
 */
public final class CertificateChain {
    /** Limit of a certificate in bytes. */
    public static final int MAX_CERTIFICATE = 4096;

    public static final int MAX_CERTIFICATES = 3;

    private final List<ParsedCertificate> certificates;
    private final CertificateName name;
    private final CertificateRole role;

    private CertificateChain(List<ParsedCertificate> certificates, CertificateName name, CertificateRole role) {
        this.certificates = certificates;
        this.name = name;
        this.role = role;
    }

    /**
     * Parses a chain without verifying it.
     *
     * @param certificates in DER, the leaf first; they may come from anyone
     */
    public static CertificateChain parse(List<byte[]> certificates) throws IdentityRefusedException {
        requireLength(certificates.size());
        List<X509Certificate> parsed = new ArrayList<>();
        for (byte[] der : certificates) {
            parsed.add(certificate(der));
        }
        return of(parsed);
    }

    /** Creates a chain from a TLS engine's certificates, the leaf first. */
    public static CertificateChain of(List<X509Certificate> certificates) throws IdentityRefusedException {
        requireLength(certificates.size());
        CertificateName name = name(certificates.get(0));
        String subject = "certificate of " + name;
        CertificateRole role = CertificateRole.of(name.role())
                .orElseThrow(() -> new IdentityRefusedException(
                        IdentityClause.ROLE,
                        subject,
                        "a role of the protocol",
                        name.role(),
                        "use a name as section 3 has it"));
        if (role.isSite() != name.project().equals(CertificateName.SITE)) {
            throw new IdentityRefusedException(
                    IdentityClause.SCOPE,
                    subject,
                    role.isSite() ? CertificateName.SITE : "a project",
                    name.project(),
                    "use a name as section 3 has it");
        }
        List<ParsedCertificate> checked = new ArrayList<>();
        for (X509Certificate each : certificates) {
            checked.add(
                    checked.isEmpty()
                            ? ParsedCertificate.leaf(each, subject, role)
                            : ParsedCertificate.authority(each, "authority above " + name));
        }
        return new CertificateChain(List.copyOf(checked), name, role);
    }

    /** Returns the name that the chain claims; it is not verified yet. */
    public CertificateName claimed() {
        return name;
    }

    /** Returns the role in the name that the chain claims. */
    public CertificateRole role() {
        return role;
    }

    /** Returns the earliest time at which the chain can be valid. */
    public Instant from() {
        return certificates.stream()
                .map(ParsedCertificate::notBefore)
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * Verifies that the chain ends at an anchor, is valid now and is not revoked.
     *
     * @param roles the accepted roles
     */
    public CertifiedIdentity verify(
            Collection<CertificateRole> roles, TrustAnchors anchors, RevocationLists lists, Instant now)
            throws IdentityRefusedException {
        CertifiedIdentity identity = verifyUnlisted(roles, anchors, now);
        lists.require(identity, now);
        return identity;
    }

    /**
     * Verifies the chain without a revocation list: the caller must not trust the result before
     * {@link RevocationLists#require} accepts it.
     */
    public CertifiedIdentity verifyUnlisted(Collection<CertificateRole> roles, TrustAnchors anchors, Instant now)
            throws IdentityRefusedException {
        String subject = "certificate of " + name;
        if (!roles.contains(role)) {
            throw new IdentityRefusedException(
                    IdentityClause.ROLE,
                    subject,
                    "one of " + roles,
                    role.toString(),
                    "come with a certificate of that role");
        }
        Collection<VerificationKey> keys = anchors.of(name.project());
        if (keys.isEmpty()) {
            throw new IdentityRefusedException(
                    IdentityClause.SCOPE,
                    subject,
                    "a project that is known here",
                    name.project(),
                    "have the site approve the project");
        }
        Instant until = Instant.MAX;
        for (ParsedCertificate each : certificates) {
            each.requireTime(now);
            until = until.isBefore(each.notAfter()) ? until : each.notAfter();
        }
        ParsedCertificate last = certificates.get(certificates.size() - 1);
        VerificationKey anchor = last.issuer(keys)
                .orElseThrow(() -> new IdentityRefusedException(
                        IdentityClause.ISSUER,
                        subject,
                        "an authority of " + name.project() + ": " + keys,
                        last.issuerName(),
                        "renew the certificate under an owner that the newest document names"));
        requirePath(subject, anchor, now);
        return new CertifiedIdentity(name, role, certificates.get(0).key(), until, anchor, last.serial());
    }

    /**
     * Verifies a chain that has expired, as it was at its end, for renewal alone: its holder proves an enrolled key and
     * nothing that is valid now. The caller must not trust the result before {@link TrustStore#verifyForRenewal} has
     * verified that the key is not revoked.
     *
     * @throws IdentityRefusedException also if it has not expired, or expired too long ago
     */
    public CertifiedIdentity verifyExpired(Collection<CertificateRole> roles, TrustAnchors anchors, Instant now)
            throws IdentityRefusedException {
        Instant end = certificates.stream()
                .map(ParsedCertificate::notAfter)
                .min(Comparator.naturalOrder())
                .orElseThrow();
        Instant last = end.plus(ValidityPeriod.RENEWABLE);
        if (!now.isAfter(end) || now.isAfter(last)) {
            throw new IdentityRefusedException(
                    IdentityClause.TIME,
                    "renewal of the certificate of " + name,
                    "a time after " + end + " to " + last,
                    now.toString(),
                    "renew it by files, with agentctl site request and site issue");
        }
        return verifyUnlisted(roles, anchors, end);
    }

    /** Verifies signatures, path lengths and name constraints by RFC 5280, section 6. */
    private void requirePath(String subject, VerificationKey anchor, Instant now) throws IdentityRefusedException {
        List<X509Certificate> path =
                certificates.stream().map(ParsedCertificate::x509).toList();
        X509Certificate last = path.get(path.size() - 1);
        try {
            TrustAnchor trust = new TrustAnchor(last.getIssuerX500Principal(), anchor.publicKey(), null);
            PKIXParameters parameters = new PKIXParameters(Set.of(trust));
            parameters.setRevocationEnabled(false);
            parameters.setDate(Date.from(now));
            CertPathValidator.getInstance("PKIX")
                    .validate(CertificateFactory.getInstance("X.509").generateCertPath(path), parameters);
        } catch (CertPathValidatorException e) {
            boolean names = e.getReason() == PKIXReason.INVALID_NAME || e.getReason() == PKIXReason.PATH_TOO_LONG;
            throw new IdentityRefusedException(
                    names ? IdentityClause.CONSTRAINT : IdentityClause.ISSUER,
                    subject,
                    names ? "a name within its authorities' constraints" : "each certificate signed by the next",
                    e.getReason() + " at certificate " + e.getIndex(),
                    "have it issued by the authority of that name");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no PKIX", e);
        }
        for (ParsedCertificate each : certificates.subList(1, certificates.size())) {
            if (!each.permits(name.toString())) {
                throw new IdentityRefusedException(
                        IdentityClause.CONSTRAINT,
                        subject,
                        "a name within its authorities' constraints",
                        name.toString(),
                        "have it issued by the authority of that name");
            }
        }
    }

    private static void requireLength(int have) throws IdentityRefusedException {
        if (have < 1 || have > MAX_CERTIFICATES) {
            throw new IdentityRefusedException(
                    IdentityClause.CHAIN,
                    "certificates",
                    "1 to " + MAX_CERTIFICATES,
                    String.valueOf(have),
                    "send the leaf and its authorities, without the anchor");
        }
    }

    private static X509Certificate certificate(byte[] der) throws IdentityRefusedException {
        if (der.length > MAX_CERTIFICATE) {
            throw new IdentityRefusedException(
                    IdentityClause.CHAIN,
                    "certificate",
                    "at most " + MAX_CERTIFICATE + " bytes",
                    der.length + " bytes",
                    "send one in DER");
        }
        try {
            // The parser also accepts PEM, which begins with another byte.
            if (der.length > 0 && der[0] == 0x30) {
                X509Certificate certificate = (X509Certificate)
                        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
                if (Arrays.equals(certificate.getEncoded(), der)) {
                    return certificate;
                }
            }
        } catch (CertificateException e) {
            throw refusedBytes(String.valueOf(e.getMessage()));
        }
        throw refusedBytes("other bytes than its DER");
    }

    private static IdentityRefusedException refusedBytes(String had) {
        return new IdentityRefusedException(
                IdentityClause.CERTIFICATE, "certificate", "X.509 in DER", StrictJson.quoted(had), "send one in DER");
    }

    private static CertificateName name(X509Certificate leaf) throws IdentityRefusedException {
        String had = "none";
        try {
            Collection<List<?>> names = leaf.getSubjectAlternativeNames();
            if (names != null) {
                had = names.size() + " names";
                if (names.size() == 1) {
                    List<?> only = names.iterator().next();
                    had = String.valueOf(only.get(1));
                    if (only.get(0) instanceof Integer kind && kind == ParsedCertificate.DNS_NAME) {
                        return CertificateName.parse(had);
                    }
                }
            }
        } catch (CertificateException | MalformedException e) {
            had = String.valueOf(e.getMessage());
        }
        throw new IdentityRefusedException(
                IdentityClause.NAME,
                "certificate",
                "exactly one dNSName ID.ROLE.PROJECT.cloister.internal",
                StrictJson.quoted(had),
                "have one issued for a name as section 3 has it");
    }
}
