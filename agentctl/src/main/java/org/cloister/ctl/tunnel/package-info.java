/** agentctl tunnel: lists and explains a VM's tunnels. */
@NullMarked
package org.cloister.ctl.tunnel;

import org.jspecify.annotations.NullMarked;
