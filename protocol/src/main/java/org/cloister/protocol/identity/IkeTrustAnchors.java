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
 * Whom a VM's charon believes. strongSwan ends a chain at a certificate that certifies itself, and no owner's travels; and
 * strongSwan 5.9 wants a name to be below each of an authority's permitted names, not below one. So a VM that has verified a
 * controlling VM's chain itself makes, for its own charon, an authority that certifies itself, and signs with it a certificate
 * of the same subject, key and time. There is one such authority for all tunnels of a VM's life: strongSwan takes the first
 * certificate of an issuer's name and key that it has, and looks for no other. Not for several threads.
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

    /** For as long as the tunnels are made; its key is in no other place. */
    public static IkeTrustAnchors create(String project, Instant now, SecureRandom random) throws IOException {
        return new IkeTrustAnchors(project, now, random);
    }

    /**
     * The same certificate for the same authority each time.
     *
     * @param verified authorities that issue leaves, in DER, each with a chain that was found good
     * @return certificates in DER, the one that certifies itself first, and one for each in their order
     * @throws IOException if one is no authority of this project
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
