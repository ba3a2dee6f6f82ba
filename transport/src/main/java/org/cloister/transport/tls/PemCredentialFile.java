package org.cloister.transport.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.cloister.base.file.AtomicFile;

/**
 * Reads and writes credentials in PEM files (RFC 7468). It zeroes the key's bytes; the runtime keeps a copy of its own.
 */
public final class PemCredentialFile {
    private static final int MAX_BYTES = 64 * 1024;
    private static final int LINE = 64;
    private static final byte[] BEGIN = "-----BEGIN PRIVATE KEY-----".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "-----END PRIVATE KEY-----".getBytes(StandardCharsets.US_ASCII);

    private PemCredentialFile() {}

    /**
     * Reads a credential.
     *
     * @param key PKCS #8, not encrypted: a file that only its owner can read
     */
    public static TlsCredential read(Path certificate, Path key) throws IOException {
        return new TlsCredential(key(key), certificates(certificate));
    }

    public static List<X509Certificate> certificates(Path file) throws IOException {
        try {
            List<X509Certificate> chain = new ArrayList<>();
            for (Certificate each : CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(AtomicFile.read(file, MAX_BYTES)))) {
                chain.add((X509Certificate) each);
            }
            if (chain.isEmpty()) {
                throw new IOException(file + ": want certificates in PEM, have none");
            }
            return chain;
        } catch (CertificateException e) {
            throw new IOException(file + ": want certificates in PEM, have something else", e);
        }
    }

    /** Parses one certificate in DER. */
    public static X509Certificate certificate(byte[] der) throws IOException {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        } catch (CertificateException e) {
            throw new IOException("certificate: want X.509 in DER, have something else", e);
        }
    }

    /** Replaces a file atomically with these certificates, the leaf first. */
    public static void replace(Path file, List<X509Certificate> chain) throws IOException {
        AtomicFile.replace(file, pem(chain));
    }

    /** Encodes certificates in PEM, in the given order. */
    public static byte[] pem(List<X509Certificate> chain) throws IOException {
        StringBuilder pem = new StringBuilder();
        try {
            for (X509Certificate each : chain) {
                pem.append("-----BEGIN CERTIFICATE-----\n")
                        .append(Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(each.getEncoded()))
                        .append("\n-----END CERTIFICATE-----\n");
            }
        } catch (CertificateException e) {
            throw new IOException("certificate of " + chain.get(0).getSubjectX500Principal() + ": has no DER", e);
        }
        return pem.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static PrivateKey key(Path file) throws IOException {
        byte[] pem = AtomicFile.read(file, MAX_BYTES);
        byte[] der = new byte[0];
        try {
            int from = find(pem, BEGIN) + BEGIN.length;
            int to = find(pem, END);
            if (from < BEGIN.length || to < from) {
                throw new IOException(file + ": want one private key in PKCS #8 PEM, have none");
            }
            byte[] base64 = Arrays.copyOfRange(pem, from, to);
            try {
                der = Base64.getMimeDecoder().decode(base64);
            } finally {
                Arrays.fill(base64, (byte) 0);
            }
            return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            // The cause is omitted, because its text may contain part of the key.
            throw new IOException(file + ": want a private key of ECDSA in PKCS #8 PEM, have something else");
        } finally {
            Arrays.fill(pem, (byte) 0);
            Arrays.fill(der, (byte) 0);
        }
    }

    private static int find(byte[] in, byte[] what) {
        for (int at = 0; at <= in.length - what.length; at++) {
            if (Arrays.equals(in, at, at + what.length, what, 0, what.length)) {
                return at;
            }
        }
        return -1;
    }
}
