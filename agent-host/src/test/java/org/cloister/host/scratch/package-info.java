/** Scratch files on real file systems. */
@NullMarked
package org.cloister.host.scratch;

import org.jspecify.annotations.NullMarked;
