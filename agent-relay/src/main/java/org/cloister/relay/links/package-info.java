/** Links of agents, attach streams, delivery of documents, metrics and certificate renewal. */
@NullMarked
package org.cloister.relay.links;

import org.jspecify.annotations.NullMarked;
