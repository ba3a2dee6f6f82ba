/** The daemon: its main class, its components, and the run of each VM. */
@NullMarked
package org.cloister.host.daemon;

import org.jspecify.annotations.NullMarked;
