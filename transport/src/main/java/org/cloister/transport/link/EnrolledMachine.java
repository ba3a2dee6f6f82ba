package org.cloister.transport.link;

import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;

/**
 * Enrolled host or relay, with the identity and keys from its files.
 *
 * @param site keys of the site's authority
 * @param file of its certificate, which is replaced when the certificate is renewed
 */
public record EnrolledMachine(CertificateName name, TlsCredential credential, Set<VerificationKey> site, Path file) {
    public EnrolledMachine {
        site = Set.copyOf(site);
    }

    /**
     * Reads a machine's files.
     *
     * @param key PKCS #8 in PEM
     * @param authority the site's certificates in PEM
     * @throws IOException also if the certificate is not of that role, or not of that site, or has expired; a host's
     *     may have expired for as long as it can be renewed
     */
    public static EnrolledMachine read(Path certificate, Path key, Path authority, CertificateRole role)
            throws IOException {
        Set<VerificationKey> site = new LinkedHashSet<>();
        for (X509Certificate each : PemCredentialFile.certificates(authority)) {
            site.add(VerificationKey.parse(each.getPublicKey().getEncoded()));
        }
        TlsCredential own = PemCredentialFile.read(certificate, key);
        try {
            CertificateName name =
                    verify(CertificateChain.of(own.chain()), role, site).name();
            return new EnrolledMachine(name, own, site, certificate);
        } catch (IdentityRefusedException e) {
            throw new IOException(certificate + ": " + e.getMessage(), e);
        }
    }

    /** A host may start with a certificate that has expired: it renews it before it does anything else. */
    private static CertifiedIdentity verify(CertificateChain chain, CertificateRole role, Set<VerificationKey> site)
            throws IdentityRefusedException {
        TrustAnchors anchors = TrustAnchors.none().withSite(site);
        Instant now = Instant.now();
        try {
            return chain.verifyUnlisted(Set.of(role), anchors, now);
        } catch (IdentityRefusedException e) {
            if (role != CertificateRole.HOST || e.clause() != IdentityClause.TIME) {
                throw e;
            }
            return chain.verifyExpired(Set.of(role), anchors, now);
        }
    }

    public TrustAnchors anchors() {
        return TrustAnchors.none().withSite(site);
    }

    /** Returns the machine's key, which does not change when its certificate is renewed. */
    public SigningKey key() throws IOException {
        return SigningKey.of(new KeyPair(credential.chain().get(0).getPublicKey(), credential.key()));
    }

    /** Creates a renewal client that stores new certificates in the certificate's file. */
    public RenewalClient renewal(RandomGenerator random) throws IOException {
        return new RenewalClient(
                credential, anchors(), fresh -> PemCredentialFile.replace(file, List.of(fresh)), random);
    }
}
