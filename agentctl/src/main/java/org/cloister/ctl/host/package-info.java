/** agentctl host: prepares a host; the client of agent-host's control socket. */
@NullMarked
package org.cloister.ctl.host;

import org.jspecify.annotations.NullMarked;
