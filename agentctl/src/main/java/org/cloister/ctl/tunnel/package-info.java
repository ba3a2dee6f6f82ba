/** {@code agentctl tunnel}: a VM's tunnels, as charon and the kernel have them. */
@NullMarked
package org.cloister.ctl.tunnel;

import org.jspecify.annotations.NullMarked;
