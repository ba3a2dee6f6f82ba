/** The ticket lifecycle: admission, allocation, tracking of jobs, and messages. */
@NullMarked
package org.cloister.relay.tickets;

import org.jspecify.annotations.NullMarked;
