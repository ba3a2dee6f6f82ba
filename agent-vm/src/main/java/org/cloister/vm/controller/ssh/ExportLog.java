package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.List;
import org.cloister.audit.AuditLogWriter;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.transport.tls.PemCredentialFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The project's export log, in a folder that all people of the project may read: docs/protocol.md, section 14. Each
 * start of the VM signs with its own key, whose certificates are beside the segments before it signs anything.
 */
public final class ExportLog implements ExportAuditSink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExportLog.class);

    private final Path folder;
    private final CertificateName vm;
    private final SigningKey key;
    private final byte[] pem;
    private final InstantSource clock;
    private @Nullable AuditLogWriter writer;

    private ExportLog(Path folder, CertificateName vm, SigningKey key, byte[] pem, InstantSource clock) {
        this.folder = folder;
        this.vm = vm;
        this.key = key;
        this.pem = pem;
        this.clock = clock;
    }

    /**
     * Opens the log. While it cannot be written, or its content does not verify, jobs continue, and nothing is
     * exported.
     *
     * @param chain of the key, leaf first
     */
    public static ExportLog open(
            Path folder, CertificateName vm, SigningKey key, List<X509Certificate> chain, InstantSource clock)
            throws IOException {
        ExportLog opened = new ExportLog(folder, vm, key, PemCredentialFile.pem(chain), clock);
        try {
            opened.openWriter();
        } catch (IOException e) {
            LOG.error("export log: cannot be opened, so exports are refused: {}", e.getMessage());
        }
        return opened;
    }

    private synchronized AuditLogWriter openWriter() throws IOException {
        AuditLogWriter opened = writer;
        if (opened == null) {
            WorldReadableFile.replace(
                    folder.resolve("signer-" + key.verificationKey().id() + ".pem"), pem);
            opened = AuditLogWriter.openForAll(folder, vm.toString(), key, clock);
            writer = opened;
        }
        return opened;
    }

    @Override
    public void append(AuditEvent event) throws IOException {
        openWriter().append(List.of(event));
    }

    @Override
    public synchronized void close() throws IOException {
        if (writer != null) {
            writer.close();
        }
    }
}
