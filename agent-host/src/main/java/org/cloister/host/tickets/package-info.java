/** The host's side of tickets: what the relay gives for one, held against what the host knows itself. */
@NullMarked
package org.cloister.host.tickets;

import org.jspecify.annotations.NullMarked;
