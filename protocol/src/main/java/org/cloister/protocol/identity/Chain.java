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
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * A leaf and the authorities above it, without the self-signed one; docs/protocol.md, section 3. An object that exists is
 * well-formed and nothing more. Needs the runtime's own classes alone.
 */
public final class Chain {
    /** Bytes of a certificate. */
    public static final int MAX_CERTIFICATE = 4096;

    public static final int MAX_CERTIFICATES = 3;

    private final List<CheckedCertificate> certificates;
    private final Name name;
    private final Role role;

    private Chain(List<CheckedCertificate> certificates, Name name, Role role) {
        this.certificates = certificates;
        this.name = name;
        this.role = role;
    }

    /** @param certificates in DER, the leaf first, from whoever claims them */
    public static Chain parse(List<byte[]> certificates) throws IdentityRefused {
        requireLength(certificates.size());
        List<X509Certificate> parsed = new ArrayList<>();
        for (byte[] der : certificates) {
            parsed.add(certificate(der));
        }
        return of(parsed);
    }

    /** As a TLS engine has them, the leaf first. */
    public static Chain of(List<X509Certificate> certificates) throws IdentityRefused {
        requireLength(certificates.size());
        Name name = name(certificates.get(0));
        String subject = "certificate of " + name;
        Role role = Role.of(name.role())
                .orElseThrow(() -> new IdentityRefused(
                        Clause.ROLE, subject, "a role of the protocol", name.role(), "use a name as section 3 has it"));
        if (role.isSite() != name.project().equals(Name.SITE)) {
            throw new IdentityRefused(
                    Clause.SCOPE,
                    subject,
                    role.isSite() ? Name.SITE : "a project",
                    name.project(),
                    "use a name as section 3 has it");
        }
        List<CheckedCertificate> checked = new ArrayList<>();
        for (X509Certificate each : certificates) {
            checked.add(
                    checked.isEmpty()
                            ? CheckedCertificate.leaf(each, subject, role.curve())
                            : CheckedCertificate.authority(each, "authority above " + name));
        }
        return new Chain(List.copyOf(checked), name, role);
    }

    /** Whom it claims; not yet verified. */
    public Name claimed() {
        return name;
    }

    /** The first moment at which it can hold. */
    public Instant from() {
        return certificates.stream()
                .map(CheckedCertificate::from)
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * Whether the chain ends in an anchor, holds now and is not revoked.
     *
     * @param roles those that may be here
     */
    public Identity verify(Collection<Role> roles, Anchors anchors, RevocationLists lists, Instant now)
            throws IdentityRefused {
        Identity identity = verifyUnlisted(roles, anchors, now);
        lists.require(identity, now);
        return identity;
    }

    /** The same without a list: the caller believes nothing of it before {@link RevocationLists#require} has been asked. */
    public Identity verifyUnlisted(Collection<Role> roles, Anchors anchors, Instant now) throws IdentityRefused {
        String subject = "certificate of " + name;
        if (!roles.contains(role)) {
            throw new IdentityRefused(
                    Clause.ROLE, subject, "one of " + roles, role.toString(), "come with a certificate of that role");
        }
        Collection<VerificationKey> keys = anchors.of(name.project());
        if (keys.isEmpty()) {
            throw new IdentityRefused(
                    Clause.SCOPE,
                    subject,
                    "a project that is known here",
                    name.project(),
                    "have the site approve the project");
        }
        Instant until = Instant.MAX;
        for (CheckedCertificate each : certificates) {
            each.requireTime(now);
            until = until.isBefore(each.until()) ? until : each.until();
        }
        CheckedCertificate last = certificates.get(certificates.size() - 1);
        VerificationKey anchor = last.issuer(keys)
                .orElseThrow(() -> new IdentityRefused(
                        Clause.ISSUER,
                        subject,
                        "an authority of " + name.project() + ": " + keys,
                        last.issuerName(),
                        "renew the certificate under an owner that the newest document names"));
        requirePath(subject, anchor, now);
        return new Identity(name, role, certificates.get(0).key(), until, anchor, last.serial());
    }

    /** RFC 5280 section 6: signatures, path lengths and name constraints. */
    private void requirePath(String subject, VerificationKey anchor, Instant now) throws IdentityRefused {
        List<X509Certificate> path =
                certificates.stream().map(CheckedCertificate::x509).toList();
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
            throw new IdentityRefused(
                    names ? Clause.CONSTRAINT : Clause.ISSUER,
                    subject,
                    names ? "a name within its authorities' constraints" : "each certificate signed by the next",
                    e.getReason() + " at certificate " + e.getIndex(),
                    "have it issued by the authority of that name");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no PKIX", e);
        }
        for (CheckedCertificate each : certificates.subList(1, certificates.size())) {
            if (!each.permits(name.toString())) {
                throw new IdentityRefused(
                        Clause.CONSTRAINT,
                        subject,
                        "a name within its authorities' constraints",
                        name.toString(),
                        "have it issued by the authority of that name");
            }
        }
    }

    private static void requireLength(int have) throws IdentityRefused {
        if (have < 1 || have > MAX_CERTIFICATES) {
            throw new IdentityRefused(
                    Clause.CHAIN,
                    "certificates",
                    "1 to " + MAX_CERTIFICATES,
                    String.valueOf(have),
                    "send the leaf and its authorities, without the anchor");
        }
    }

    private static X509Certificate certificate(byte[] der) throws IdentityRefused {
        if (der.length > MAX_CERTIFICATE) {
            throw new IdentityRefused(
                    Clause.CHAIN,
                    "certificate",
                    "at most " + MAX_CERTIFICATE + " bytes",
                    der.length + " bytes",
                    "send one in DER");
        }
        try {
            // The reader takes PEM too, which begins otherwise.
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

    private static IdentityRefused refusedBytes(String had) {
        return new IdentityRefused(
                Clause.CERTIFICATE, "certificate", "X.509 in DER", StrictJson.quoted(had), "send one in DER");
    }

    private static Name name(X509Certificate leaf) throws IdentityRefused {
        String had = "none";
        try {
            Collection<List<?>> names = leaf.getSubjectAlternativeNames();
            if (names != null) {
                had = names.size() + " names";
                if (names.size() == 1) {
                    List<?> only = names.iterator().next();
                    had = String.valueOf(only.get(1));
                    if (only.get(0) instanceof Integer kind && kind == CheckedCertificate.DNS_NAME) {
                        return Name.parse(had);
                    }
                }
            }
        } catch (CertificateException | MalformedException e) {
            had = String.valueOf(e.getMessage());
        }
        throw new IdentityRefused(
                Clause.NAME,
                "certificate",
                "exactly one dNSName ID.ROLE.PROJECT.cloister.internal",
                StrictJson.quoted(had),
                "have one issued for a name as section 3 has it");
    }
}
