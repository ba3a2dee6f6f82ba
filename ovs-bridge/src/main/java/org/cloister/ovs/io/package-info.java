/** Reconnecting sockets, and errors. */
@NullMarked
package org.cloister.ovs.io;

import org.jspecify.annotations.NullMarked;
