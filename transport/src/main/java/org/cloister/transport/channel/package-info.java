/** Both ends of the channel between a VM and its host. */
@NullMarked
package org.cloister.transport.channel;

import org.jspecify.annotations.NullMarked;
