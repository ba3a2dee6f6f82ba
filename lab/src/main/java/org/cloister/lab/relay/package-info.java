/** Relays, agents and loads as processes. */
@NullMarked
package org.cloister.lab.relay;

import org.jspecify.annotations.NullMarked;
