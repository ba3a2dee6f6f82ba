/** Shares the relay's threads, rates and memory between projects. Deciders without threads or clocks, and threads that ask them. */
@NullMarked
package org.cloister.relay.fairness;

import org.jspecify.annotations.NullMarked;
