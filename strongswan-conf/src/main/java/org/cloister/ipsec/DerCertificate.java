package org.cloister.ipsec;

import java.io.ByteArrayInputStream;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;
import org.jspecify.annotations.Nullable;

/** An X.509 certificate as its DER bytes, with the fields read from it. charon decides whether it is trusted. */
public final class DerCertificate {
    /** Type of a dNSName in {@code X509Certificate#getSubjectAlternativeNames}. */
    private static final Integer DNS_NAME = 2;

    private final byte[] der;
    private final Instant notBefore;
    private final Instant notAfter;
    private final List<String> names;

    private DerCertificate(byte[] der, X509Certificate read, List<String> names) {
        this.der = der;
        this.notBefore = read.getNotBefore().toInstant();
        this.notAfter = read.getNotAfter().toInstant();
        this.names = names;
    }

    public static DerCertificate parse(byte[] der) throws PlanRefused {
        try {
            X509Certificate read = (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
            // The factory accepts PEM and trailing bytes too; only bytes that it would encode again are a certificate.
            if (!Arrays.equals(read.getEncoded(), der)) {
                throw new PlanRefused("certificate", "DER and nothing else", der.length + " bytes", "encode it as DER");
            }
            Collection<List<?>> all = read.getSubjectAlternativeNames();
            List<String> names = all == null
                    ? List.of()
                    : all.stream()
                            .filter(name -> DNS_NAME.equals(name.get(0)))
                            .map(name -> String.valueOf(name.get(1)))
                            .toList();
            return new DerCertificate(der.clone(), read, names);
        } catch (CertificateException e) {
            throw new PlanRefused("certificate", "X.509 in DER", String.valueOf(e.getMessage()), "encode it as DER");
        }
    }

    public byte[] der() {
        return der.clone();
    }

    public Instant notBefore() {
        return notBefore;
    }

    public Instant notAfter() {
        return notAfter;
    }

    /** Returns its dNSNames. */
    public List<String> names() {
        return names;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DerCertificate certificate && Arrays.equals(der, certificate.der);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(der);
    }

    @Override
    public String toString() {
        return names + " from " + notBefore + " to " + notAfter;
    }
}
