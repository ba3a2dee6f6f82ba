/**
 * What the relay must not forget: tickets, VLANs and addresses, and audit records still to be written, in SQL.
 *
 * <p>{@link org.cloister.relay.state.RelayDatabase#transact} is the way in. The statements are those that SQLite and PostgreSQL
 * both take; what differs is in {@code Dialect}.
 */
@NullMarked
package org.cloister.base.address;

import org.jspecify.annotations.NullMarked;
