/** Captures, sends and searches Ethernet frames. */
@NullMarked
package org.cloister.lab.wire;

import org.jspecify.annotations.NullMarked;
