/** agentctl bridge: shows, checks and traces a host's bridge. */
@NullMarked
package org.cloister.ctl.bridge;

import org.jspecify.annotations.NullMarked;
