package org.cloister.vm.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.log.AuditLog;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;
import org.cloister.vm.SharedFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The project's log of what was taken out, a folder that all its persons may read: docs/protocol.md, section 14. Each start of
 * the VM signs with a key of its own, whose certificates lie beside the segments.
 */
public final class ExportLog implements Records, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExportLog.class);
    private static final int LINE = 64;

    private final Path signer;
    private final byte[] pem;
    private final AuditLog log;
    private boolean vouched;

    private ExportLog(Path signer, byte[] pem, AuditLog log) {
        this.signer = signer;
        this.pem = pem;
        this.log = log;
    }

    /**
     * @param chain of that key, in DER, the leaf first
     * @throws IOException if what is there does not hold
     */
    public static ExportLog open(Path folder, Name vm, SigningKey key, List<byte[]> chain, InstantSource clock)
            throws IOException {
        Path signer = folder.resolve("signer-" + key.verificationKey().id() + ".pem");
        ExportLog opened = new ExportLog(signer, pem(chain), AuditLog.openForAll(folder, vm.toString(), key, clock));
        try {
            opened.vouch();
        } catch (IOException e) {
            // A full drive: jobs go on, and nothing goes out.
            LOG.warn("log of exports: {}", e.getMessage());
        }
        return opened;
    }

    private static byte[] pem(List<byte[]> chain) {
        Base64.Encoder base64 = Base64.getMimeEncoder(LINE, new byte[] {'\n'});
        StringBuilder text = new StringBuilder();
        for (byte[] each : chain) {
            text.append("-----BEGIN CERTIFICATE-----\n")
                    .append(base64.encodeToString(each))
                    .append("\n-----END CERTIFICATE-----\n");
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private synchronized void vouch() throws IOException {
        if (!vouched) {
            SharedFile.replace(signer, pem);
            vouched = true;
        }
    }

    @Override
    public void append(AuditEvent event) throws IOException {
        vouch();
        log.append(List.of(event));
    }

    @Override
    public void close() throws IOException {
        log.close();
    }
}
