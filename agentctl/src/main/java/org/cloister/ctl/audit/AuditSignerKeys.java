package org.cloister.ctl.audit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.HistoricalTrustAnchors;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ProjectHistory;

/** Reads the keys whose signed heads are trusted. */
final class AuditSignerKeys {
    private static final int MAX_FILE = 64 * 1024;
    private static final int MAX_CHAIN = 8;

    private AuditSignerKeys() {}

    /** Reads a relay's keys from PEM files: certificates, whose validity periods are ignored here, or public keys. */
    static List<VerificationKey> ofRelay(List<Path> files) throws IOException {
        List<VerificationKey> keys = new ArrayList<>();
        for (Path file : files) {
            String text = new String(Pem.readBounded(file, MAX_FILE), StandardCharsets.ISO_8859_1);
            try {
                keys.add(
                        text.contains("-----BEGIN " + Pem.CERTIFICATE + "-----")
                                ? ofCertificate(Pem.readAll(file, Pem.CERTIFICATE, MAX_CHAIN)
                                        .get(0))
                                : VerificationKey.parse(Pem.read(file, Pem.PUBLIC_KEY)));
            } catch (CertificateException e) {
                throw new MalformedException(file + ": want a certificate, have something else", e);
            }
        }
        return keys;
    }

    /**
     * Reads the keys of a project's VMs, each of which was certified as such at some time.
     *
     * @param files files of chains in PEM, the leaf first
     */
    static List<VerificationKey> ofProject(ProjectHistory project, List<Path> files) throws IOException {
        HistoricalTrustAnchors owners = HistoricalTrustAnchors.of(project, List.of());
        List<VerificationKey> keys = new ArrayList<>();
        for (Path file : files) {
            try {
                CertificateChain chain =
                        CertificateChain.parse(Pem.readAll(file, Pem.CERTIFICATE, CertificateChain.MAX_CERTIFICATES));
                keys.add(owners.verify(chain, CertificateRole.CONTROLLER, List.of(chain.from()))
                        .key());
            } catch (IdentityRefusedException e) {
                throw new IOException(file + ": " + e.getMessage(), e);
            }
        }
        return keys;
    }

    private static VerificationKey ofCertificate(byte[] leaf) throws CertificateException, MalformedException {
        return VerificationKey.of(CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(leaf))
                .getPublicKey());
    }
}
