/** Memory for keys that the garbage collector, a dump, a fork and swap cannot get at. */
@NullMarked
package org.cloister.luks.secret;

import org.jspecify.annotations.NullMarked;
