/** The relay database: tickets, slots, networks, delivered documents and the audit outbox. */
@NullMarked
package org.cloister.relay.state;

import org.jspecify.annotations.NullMarked;
