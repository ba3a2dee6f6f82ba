/** Tickets in the relay: taken, given numbers and nodes, followed to their end; docs/protocol.md, section 13. */
@NullMarked
package org.cloister.relay.tickets;

import org.jspecify.annotations.NullMarked;
