/** A compute host's daemon. */
@NullMarked
package org.cloister.host;

import org.jspecify.annotations.NullMarked;
