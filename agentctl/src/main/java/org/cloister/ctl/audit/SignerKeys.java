package org.cloister.ctl.audit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.PastAnchors;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;

/** Whose heads are believed. */
final class SignerKeys {
    private static final int MAX_FILE = 64 * 1024;
    private static final int MAX_CHAIN = 8;

    private SignerKeys() {}

    /** A relay's, from files in PEM: certificates, whose dates do not matter here, or public keys. */
    static List<VerificationKey> ofRelay(List<Path> files) throws IOException {
        List<VerificationKey> keys = new ArrayList<>();
        for (Path file : files) {
            String text = new String(Pem.bytes(file, MAX_FILE), StandardCharsets.ISO_8859_1);
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
     * A project's VMs', each once certified as one.
     *
     * @param files of chains in PEM, the leaf first
     */
    static List<VerificationKey> ofProject(ProjectHistory project, List<Path> files) throws IOException {
        PastAnchors owners = PastAnchors.of(project, List.of());
        List<VerificationKey> keys = new ArrayList<>();
        for (Path file : files) {
            try {
                Chain chain = Chain.parse(Pem.readAll(file, Pem.CERTIFICATE, Chain.MAX_CERTIFICATES));
                keys.add(owners.verify(chain, Role.CONTROLLER, List.of(chain.from()))
                        .key());
            } catch (IdentityRefused e) {
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
