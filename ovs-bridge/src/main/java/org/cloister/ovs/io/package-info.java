/** Reconnecting sockets, the call of nft, and errors. */
@NullMarked
package org.cloister.ovs.io;

import org.jspecify.annotations.NullMarked;
