/** {@code agentctl host}: what the compute host's daemon says of itself, and the job step that waits for its VM. */
@NullMarked
package org.cloister.ctl.host;

import org.jspecify.annotations.NullMarked;
