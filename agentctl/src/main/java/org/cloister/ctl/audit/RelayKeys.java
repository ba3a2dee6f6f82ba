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

/** A relay's keys from files in PEM: certificates, whose dates do not matter here, or public keys. */
final class RelayKeys {
    private static final int MAX_FILE = 64 * 1024;
    private static final int MAX_CHAIN = 8;

    private RelayKeys() {}

    static List<VerificationKey> read(List<Path> files) throws IOException {
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

    private static VerificationKey ofCertificate(byte[] leaf) throws CertificateException, MalformedException {
        return VerificationKey.of(CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(leaf))
                .getPublicKey());
    }
}
