package org.cloister.relay.tickets;

import java.util.function.Supplier;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.relay.state.AuditSpace;
import org.cloister.transport.tls.TlsCredential;

/**
 * Settings of the ticket lifecycle.
 *
 * @param key the relay's own key, which signs allocations
 * @param credential the certificates of that key, which are renewed
 * @param auditSpace size limits of the audit log
 */
public record TicketLifecycleSettings(
        CertificateName relay,
        SigningKey key,
        Supplier<TlsCredential> credential,
        TicketTimeouts times,
        AuditSpace auditSpace) {}
