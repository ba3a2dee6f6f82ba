/** Scratch files on real file systems. */
@NullMarked
package org.cloister.host.disk;

import org.jspecify.annotations.NullMarked;
