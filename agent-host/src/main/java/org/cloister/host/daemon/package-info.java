/** The daemon: its main class, its parts put together, and the run of each VM. */
@NullMarked
package org.cloister.host.daemon;

import org.jspecify.annotations.NullMarked;
