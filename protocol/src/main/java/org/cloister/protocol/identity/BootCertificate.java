package org.cloister.protocol.identity;

import java.io.IOException;
import java.security.SecureRandom;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.X509CertificateHolder;
import org.cloister.protocol.dsse.SignatureCurve;

/**
 * Self-signed leaf that a VM shows in its first circuit, before any authority has certified it, signed with its boot
 * key. It proves that the VM holds the key, and nothing else; docs/protocol.md, section 3. No valid
 * {@link CertificateChain} contains one.
 */
public final class BootCertificate {
    private static final Set<CertificateRole> ROLES = Set.of(CertificateRole.WORKER, CertificateRole.CONTROLLER);

    private BootCertificate() {}

    /**
     * Creates a boot certificate.
     *
     * @param name the VM's own
     * @param signer has the key
     * @param now by the VM's clock; the verifier ignores the certificate's times
     * @return in DER
     * @throws CertificationRefusedException if the name is not a worker's or controlling VM's, or the key is not on
     *     P-384
     */
    public static byte[] make(
            CertificateName name, SubjectPublicKey key, CertificateSigner signer, Instant now, SecureRandom random)
            throws IOException {
        if (ROLES.stream().noneMatch(role -> role.toString().equals(name.role()))) {
            throw new CertificationRefusedException(
                    "boot certificate", "one of " + ROLES, name.role(), "VMs alone boot");
        }
        if (key.key().curve() != SignatureCurve.P384) {
            throw new CertificationRefusedException(
                    "boot certificate",
                    SignatureCurve.P384.standardName(),
                    key.key().curve().standardName(),
                    "make another key");
        }
        X500Name subject = CertificateAuthority.leafSubject(name);
        X509CertificateHolder certificate = CertificateBuilder.of(
                        subject,
                        key.info(),
                        subject,
                        key,
                        ValidityPeriod.of(now, ValidityPeriod.LEAF, ValidityPeriod.LEAF),
                        random)
                .leaf(name)
                .sign(signer, SignatureCurve.P384);
        return certificate.getEncoded();
    }

    /**
     * Returns whether this claims to be a boot certificate, where a VM may also show a certified chain: those have two
     * or three certificates.
     */
    public static boolean isClaimed(List<X509Certificate> presented) {
        return presented.size() == 1;
    }

    /**
     * Verifies a boot certificate. Its times are not checked, because its maker chose them; the nonce in the evidence
     * proves that it belongs to this boot.
     *
     * @param presented the peer's, from a handshake that has proven the key
     * @param expected the only name that is accepted
     */
    public static BootIdentity verify(List<X509Certificate> presented, CertificateName expected)
            throws IdentityRefusedException {
        String subject = "boot certificate of " + expected;
        if (!isClaimed(presented)) {
            throw refused(IdentityClause.CHAIN, subject, "one certificate", String.valueOf(presented.size()));
        }
        X509Certificate only = presented.get(0);
        requireSize(subject, only);
        CertificateName name = CertificateChain.of(presented).claimed();
        if (!name.equals(expected)) {
            throw refused(IdentityClause.NAME, subject, expected.toString(), name.toString());
        }
        CertificateRole role = CertificateRole.of(name.role())
                .filter(ROLES::contains)
                .orElseThrow(() -> refused(IdentityClause.ROLE, subject, "one of " + ROLES, name.role()));
        ParsedCertificate leaf = ParsedCertificate.leaf(only, subject, role);
        if (!only.getIssuerX500Principal().equals(only.getSubjectX500Principal())
                || leaf.issuer(List.of(leaf.key())).isEmpty()) {
            throw refused(
                    IdentityClause.ISSUER, subject, "its own key's signature", "another one's, " + leaf.issuerName());
        }
        return new BootIdentity(name, role, leaf.key());
    }

    private static void requireSize(String subject, X509Certificate certificate) throws IdentityRefusedException {
        try {
            int bytes = certificate.getEncoded().length;
            if (bytes > CertificateChain.MAX_CERTIFICATE) {
                throw refused(
                        IdentityClause.CHAIN,
                        subject,
                        "at most " + CertificateChain.MAX_CERTIFICATE + " bytes",
                        bytes + " bytes");
            }
        } catch (CertificateEncodingException e) {
            throw refused(IdentityClause.CERTIFICATE, subject, "X.509 in DER", "another form");
        }
    }

    private static IdentityRefusedException refused(IdentityClause clause, String subject, String want, String have) {
        return new IdentityRefusedException(
                clause,
                subject,
                want,
                have,
                "look which VM answers, and who started it; a VM that boots makes its own");
    }
}
