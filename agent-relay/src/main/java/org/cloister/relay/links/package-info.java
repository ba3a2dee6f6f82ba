/** Links of agents, attach streams, metrics and certificate renewal. */
@NullMarked
package org.cloister.relay.links;

import org.jspecify.annotations.NullMarked;
