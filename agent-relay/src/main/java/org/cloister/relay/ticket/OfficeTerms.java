package org.cloister.relay.ticket;

import java.util.function.Supplier;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Credential;

/**
 * Who the office is.
 *
 * @param key the relay's own; it signs allocations
 * @param own the same key's certificates, which are renewed
 * @param room that the audit log has
 */
public record OfficeTerms(Name relay, SigningKey key, Supplier<Credential> own, TicketTimes times, AuditRoom room) {}
