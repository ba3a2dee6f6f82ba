/** Tickets, openings, allocations, and the messages of ticket streams. */
@NullMarked
package org.cloister.protocol.ticket;

import org.jspecify.annotations.NullMarked;
