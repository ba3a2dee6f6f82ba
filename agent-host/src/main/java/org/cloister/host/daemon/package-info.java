/** The part of this host that runs as root, as the daemon asks it. */
@NullMarked
package org.cloister.host.daemon;

import org.jspecify.annotations.NullMarked;
