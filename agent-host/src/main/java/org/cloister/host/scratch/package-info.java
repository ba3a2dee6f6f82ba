/** Scratch files and their erasure. */
@NullMarked
package org.cloister.host.scratch;

import org.jspecify.annotations.NullMarked;
