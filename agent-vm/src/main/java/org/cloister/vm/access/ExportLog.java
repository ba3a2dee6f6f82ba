package org.cloister.vm.access;

import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.List;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.log.AuditLog;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.PemCredential;
import org.cloister.vm.SharedFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The project's log of what was taken out, a folder that all its persons may read: docs/protocol.md, section 14. Each start of
 * the VM signs with a key of its own, whose certificates lie beside the segments before it signs anything.
 */
public final class ExportLog implements Records, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExportLog.class);

    private final Path folder;
    private final Name vm;
    private final SigningKey key;
    private final byte[] pem;
    private final InstantSource clock;
    private @Nullable AuditLog log;

    private ExportLog(Path folder, Name vm, SigningKey key, byte[] pem, InstantSource clock) {
        this.folder = folder;
        this.vm = vm;
        this.key = key;
        this.pem = pem;
        this.clock = clock;
    }

    /**
     * While it cannot be written, or what is there does not hold, jobs go on, and nothing goes out.
     *
     * @param chain of that key, the leaf first
     */
    public static ExportLog open(Path folder, Name vm, SigningKey key, List<X509Certificate> chain, InstantSource clock)
            throws IOException {
        ExportLog opened = new ExportLog(folder, vm, key, PemCredential.pem(chain), clock);
        try {
            opened.begun();
        } catch (IOException e) {
            LOG.error("log of exports: nothing goes out: {}", e.getMessage());
        }
        return opened;
    }

    private synchronized AuditLog begun() throws IOException {
        AuditLog begun = log;
        if (begun == null) {
            SharedFile.replace(folder.resolve("signer-" + key.verificationKey().id() + ".pem"), pem);
            begun = AuditLog.openForAll(folder, vm.toString(), key, clock);
            log = begun;
        }
        return begun;
    }

    @Override
    public void append(AuditEvent event) throws IOException {
        begun().append(List.of(event));
    }

    @Override
    public synchronized void close() throws IOException {
        if (log != null) {
            log.close();
        }
    }
}
