/** The main class and the configuration of agent-relay. */
@NullMarked
package org.cloister.relay;

import org.jspecify.annotations.NullMarked;
