package org.cloister.relay;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.link.LinkLimits;
import org.jspecify.annotations.Nullable;

/** Certificate revocation lists (RFC 5280, section 5) of the authorities that the relay knows. */
final class CrlReader implements RevocationList.Reader {
    private static final String CRL_NUMBER = "2.5.29.20";
    private static final int MAX_BYTES = LinkLimits.FROM_RELAY_BYTES - 64;

    private final List<X509Certificate> issuers;

    CrlReader(Collection<X509Certificate> issuers) {
        this.issuers = List.copyOf(issuers);
    }

    @Override
    public RevocationList read(byte[] signed) throws MalformedException {
        if (signed.length > MAX_BYTES) {
            throw new MalformedException(
                    "revocation list: want at most " + MAX_BYTES + " bytes, have " + signed.length);
        }
        try {
            X509CRL crl =
                    (X509CRL) CertificateFactory.getInstance("X.509").generateCRL(new ByteArrayInputStream(signed));
            X509Certificate issuer = issuerOf(crl);
            if (!Arrays.equals(crl.getEncoded(), signed)) {
                throw new MalformedException("revocation list: bytes behind its end");
            }
            byte[] key = issuer.getPublicKey().getEncoded();
            String id = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(key));
            return new RevocationList(
                    id,
                    number(crl.getExtensionValue(CRL_NUMBER)),
                    ByteString.copyFrom(signed),
                    certificate -> certificate.getIssuerX500Principal().equals(issuer.getSubjectX500Principal())
                            && crl.getRevokedCertificate(certificate.getSerialNumber()) != null);
        } catch (GeneralSecurityException e) {
            throw new MalformedException("revocation list: " + e.getMessage(), e);
        }
    }

    private X509Certificate issuerOf(X509CRL crl) throws MalformedException {
        for (X509Certificate issuer : issuers) {
            if (issuer.getSubjectX500Principal().equals(crl.getIssuerX500Principal())) {
                try {
                    crl.verify(issuer.getPublicKey());
                    return issuer;
                } catch (GeneralSecurityException e) {
                    throw new MalformedException(
                            "revocation list: not signed by " + issuer.getSubjectX500Principal(), e);
                }
            }
        }
        throw new MalformedException("revocation list: of an authority that is not known here");
    }

    /** An OCTET STRING around an INTEGER of at most seven bytes. */
    private static long number(byte @Nullable [] der) throws MalformedException {
        if (der == null
                || der.length < 5
                || der.length > 11
                || der[0] != 4
                || der[1] != der.length - 2
                || der[2] != 2
                || der[3] != der.length - 4) {
            throw new MalformedException("revocation list: want a CRL number of at most 7 bytes");
        }
        BigInteger number = new BigInteger(Arrays.copyOfRange(der, 4, der.length));
        if (number.signum() < 1) {
            throw new MalformedException("revocation list: want a CRL number above 0, have " + number);
        }
        return number.longValueExact();
    }
}
