package org.cloister.relay.tickets;

import java.util.function.Supplier;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.relay.state.AuditSpace;
import org.cloister.transport.tls.TlsCredential;

/**
 * Who the office is.
 *
 * @param key the relay's own; it signs allocations
 * @param credential the same key's certificates, which are renewed
 * @param auditSpace that the audit log has
 */
public record TicketLifecycleSettings(
        CertificateName relay,
        SigningKey key,
        Supplier<TlsCredential> credential,
        TicketTimeouts times,
        AuditSpace auditSpace) {}
