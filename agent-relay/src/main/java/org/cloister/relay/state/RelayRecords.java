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
 * What the relay writes down, both in its state folder.
 *
 * @param key the relay's own, which signs heads and allocations
 * @param auditSpace that the log has
 */
public record RelayRecords(
        RelayDatabase state, AuditLogWriter log, SigningKey key, InstantSource clock, AuditSpace auditSpace)
        implements AutoCloseable {
    private static final String DATABASE = "relay.db";
    private static final String AUDIT = "audit";

    /**
     * @param own the relay's
     * @param fatal as the state has it
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
    @SuppressWarnings("try") // both end, whatever one of them says
    public void close() throws IOException {
        try (RelayDatabase first = state;
                AuditLogWriter second = log) {
            // Nothing to do but that.
        }
    }
}
