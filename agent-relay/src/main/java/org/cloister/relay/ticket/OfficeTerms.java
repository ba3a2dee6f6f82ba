package org.cloister.relay.ticket;

import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;

/**
 * Who the office is.
 *
 * @param key the relay's own; it signs allocations
 */
public record OfficeTerms(Name relay, SigningKey key, TicketTimes times) {}
