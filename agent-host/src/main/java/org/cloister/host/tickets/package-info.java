/** Claims tickets from a relay and verifies them. */
@NullMarked
package org.cloister.host.tickets;

import org.jspecify.annotations.NullMarked;
