/** Checks of a host, a VM or a relay. */
@NullMarked
package org.cloister.preflight;

import org.jspecify.annotations.NullMarked;
