/** Locked memory for secrets. */
@NullMarked
package org.cloister.luks.secret;

import org.jspecify.annotations.NullMarked;
