/** A compute host's daemon. */
@NullMarked
package org.cloister.host.metrics;

import org.jspecify.annotations.NullMarked;
