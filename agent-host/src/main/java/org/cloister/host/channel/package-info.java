/** The channels of a host's VMs and the evidence that the host signs for them. */
@NullMarked
package org.cloister.host.channel;

import org.jspecify.annotations.NullMarked;
