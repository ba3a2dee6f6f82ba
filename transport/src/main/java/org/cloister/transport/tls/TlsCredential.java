package org.cloister.transport.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;

/**
 * Private key and certificate chain that one side uses in a handshake. Prints without the key.
 *
 * @param chain the leaf first, then the authorities above it, without the self-signed one
 */
public record TlsCredential(PrivateKey key, List<X509Certificate> chain) {
    public TlsCredential {
        chain = List.copyOf(chain);
    }

    /**
     * Creates a credential.
     *
     * @param chain in DER
     */
    public static TlsCredential of(PrivateKey key, List<byte[]> chain) throws IOException {
        List<X509Certificate> certificates = new ArrayList<>();
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            for (byte[] der : chain) {
                certificates.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der)));
            }
        } catch (CertificateException e) {
            throw new IOException("credential: want certificates in DER, have something else", e);
        }
        return new TlsCredential(key, certificates);
    }

    @Override
    public String toString() {
        return "credential of " + chain.get(0).getSubjectX500Principal();
    }
}
