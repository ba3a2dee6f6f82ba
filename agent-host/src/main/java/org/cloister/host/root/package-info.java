/** The part of this host that runs as root, as the daemon asks it. */
@NullMarked
package org.cloister.host.root;

import org.jspecify.annotations.NullMarked;
