/** The main class and the configuration of agent-relay, and RelayDaemon, which wires its parts. */
@NullMarked
package org.cloister.relay;

import org.jspecify.annotations.NullMarked;
