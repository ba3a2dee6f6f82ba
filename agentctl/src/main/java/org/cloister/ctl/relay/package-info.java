/** agentctl relay: the client of the relay's control socket. */
@NullMarked
package org.cloister.ctl.relay;

import org.jspecify.annotations.NullMarked;
