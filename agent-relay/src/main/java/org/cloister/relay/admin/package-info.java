/** The slim central relay: serves the links that agents dial, and splices circuits that it cannot read. */
@NullMarked
package org.cloister.relay.admin;

import org.jspecify.annotations.NullMarked;
