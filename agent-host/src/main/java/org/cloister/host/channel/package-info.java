/** The channels of a host's VMs: what they may send through it, what it vouches for, and that they spoke at all. */
@NullMarked
package org.cloister.host.channel;

import org.jspecify.annotations.NullMarked;
