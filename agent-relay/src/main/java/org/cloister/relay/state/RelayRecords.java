package org.cloister.relay.state;

import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.InstantSource;
import org.cloister.audit.AuditLogWriter;
import org.cloister.daemon.ProcessAbort;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.transport.tls.TlsCredential;

/**
 * Relay's persistent records, the database and the audit log, both in its state folder.
 *
 * @param key the relay's own key, which signs heads and allocations
 * @param auditSpace size limits of the audit log
 */
public record RelayRecords(
        RelayDatabase state, AuditLogWriter log, SigningKey key, InstantSource clock, AuditSpace auditSpace)
        implements AutoCloseable {
    private static final String DATABASE = "relay.db";
    private static final String AUDIT = "audit";

    /**
     * Opens the database and the audit log in a folder.
     *
     * @param own the relay's own credential
     * @param fatal as in {@link RelayDatabase#open}
     */
    public static RelayRecords open(
            Path folder,
            CertificateName relay,
            TlsCredential own,
            NetworkPool pool,
            InstantSource clock,
            ProcessAbort fatal)
            throws IOException {
        SigningKey key = SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
        RelayDatabase state = RelayDatabase.open(folder.resolve(DATABASE), pool, fatal);
        try {
            AuditLogWriter log = AuditLogWriter.open(folder.resolve(AUDIT), relay.toString(), key, clock);
            return new RelayRecords(state, log, key, clock, AuditSpace.of(log::freeBytes));
        } catch (IOException | RuntimeException e) {
            state.close();
            throw e;
        }
    }

    @Override
    @SuppressWarnings("try") // both are closed, even if one of them fails
    public void close() throws IOException {
        try (RelayDatabase first = state;
                AuditLogWriter second = log) {
            // Closing them is the only task.
        }
    }
}
