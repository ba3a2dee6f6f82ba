package org.cloister.protocol.identity;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bouncycastle.asn1.x500.X500Name;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;

/**
 * Trust anchors for a VM's charon. strongSwan ends a chain at a self-signed certificate, and no owner's is transmitted;
 * strongSwan 5.9 also requires a name to be below each of an authority's permitted names, not below one of them. So a
 * VM that has verified a controlling VM's chain creates, for its own charon, a self-signed authority and issues with it
 * a certificate of the same subject, key and time. All tunnels of a VM's life use one such authority: strongSwan takes
 * the first certificate that it has of an issuer's name and key, and tries no other. Not thread-safe.
 */
public final class IkeTrustAnchors {
    private final String project;
    private final X500Name own;
    private final SubjectPublicKey key;
    private final CertificateSigner signer;
    private final CaConstraints all;
    private final SecureRandom random;
    private final byte[] anchor;
    private final Map<ByteBuffer, byte[]> made = new HashMap<>();

    private IkeTrustAnchors(String project, Instant now, SecureRandom random) throws IOException {
        KeyPair pair = pair(random);
        this.project = project;
        this.own = CertificateAuthority.subject(project, "anchor");
        this.key = SubjectPublicKey.of(SigningKey.of(pair).verificationKey());
        this.signer = CertificateSigner.of(pair.getPrivate());
        this.all = new CaConstraints(project, List.of(CertificateName.ofProject(project)), 1);
        this.random = random;
        this.anchor = CertificateBuilder.of(
                        own,
                        key.info(),
                        own,
                        key,
                        ValidityPeriod.of(now, ValidityPeriod.ROOT, ValidityPeriod.ROOT),
                        random)
                .authority(all.depth(), all.constraintsForIke())
                .sign(signer, SignatureCurve.P384)
                .getEncoded();
    }

    /** Creates the anchors for the lifetime of the tunnels; the key is stored in no other place. */
    public static IkeTrustAnchors create(String project, Instant now, SecureRandom random) throws IOException {
        return new IkeTrustAnchors(project, now, random);
    }

    /**
     * Returns certificates for charon, each time the same one for the same authority.
     *
     * @param verified authorities that issue leaves, in DER, each with a chain that was verified
     * @return certificates in DER, the self-signed one first, then one for each authority in their order
     * @throws IOException if one is not an authority of this project
     */
    public List<byte[]> certificatesFor(List<byte[]> verified) throws IOException {
        List<byte[]> certificates = new ArrayList<>();
        certificates.add(anchor.clone());
        for (byte[] each : verified) {
            ByteBuffer which = ByteBuffer.wrap(each.clone());
            byte[] before = made.get(which);
            if (before == null) {
                before = below(each);
                made.put(which, before);
            }
            certificates.add(before.clone());
        }
        return certificates;
    }

    private byte[] below(byte[] verified) throws IOException {
        AuthorityCertificate read = AuthorityCertificate.parse(verified);
        if (!read.terms().project().equals(project) || read.terms().depth() != 0) {
            throw new CertificationRefusedException(
                    "authority for tunnels",
                    "one of " + project + " with none below it",
                    "one of " + read.terms().project() + " with path length "
                            + read.terms().depth(),
                    "take that of the controlling VM");
        }
        return CertificateBuilder.of(
                        own,
                        key.info(),
                        read.holder().getSubject(),
                        SubjectPublicKey.of(read.key()),
                        new ValidityPeriod(
                                read.holder().getNotBefore().toInstant(),
                                read.holder().getNotAfter().toInstant()),
                        random)
                .authority(0, all.constraintsForIke())
                .sign(signer, SignatureCurve.P384)
                .getEncoded();
    }

    private static KeyPair pair(SecureRandom random) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P384.standardName()), random);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
