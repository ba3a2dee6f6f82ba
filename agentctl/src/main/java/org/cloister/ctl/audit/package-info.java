/** {@code agentctl audit}: a relay's audit log, offline. */
@NullMarked
package org.cloister.ctl.audit;

import org.jspecify.annotations.NullMarked;
