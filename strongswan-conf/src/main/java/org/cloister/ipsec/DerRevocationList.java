package org.cloister.ipsec;

import java.io.ByteArrayInputStream;
import java.security.cert.CRLException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.util.Arrays;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;
import org.jspecify.annotations.Nullable;

/** A list of revoked certificates as its DER bytes. charon verifies that its authority signed it. */
public final class DerRevocationList {
    private final byte[] der;

    private DerRevocationList(byte[] der) {
        this.der = der;
    }

    public static DerRevocationList parse(byte[] der) throws PlanRefused {
        try {
            X509CRL read = (X509CRL) CertificateFactory.getInstance("X.509").generateCRL(new ByteArrayInputStream(der));
            if (!Arrays.equals(read.getEncoded(), der)) {
                throw new PlanRefused(
                        "revocation list", "DER and nothing else", der.length + " bytes", "encode it as DER");
            }
            return new DerRevocationList(der.clone());
        } catch (CertificateException | CRLException e) {
            throw new PlanRefused(
                    "revocation list", "X.509 in DER", String.valueOf(e.getMessage()), "encode it as DER");
        }
    }

    public byte[] der() {
        return der.clone();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DerRevocationList crl && Arrays.equals(der, crl.der);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(der);
    }
}
