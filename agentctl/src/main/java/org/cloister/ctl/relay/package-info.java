/** {@code agentctl relay}: what the relay on this machine says of itself. */
@NullMarked
package org.cloister.ctl.relay;

import org.jspecify.annotations.NullMarked;
