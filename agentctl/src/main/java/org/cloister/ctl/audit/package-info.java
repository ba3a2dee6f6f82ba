/** agentctl audit: prints and verifies audit logs. */
@NullMarked
package org.cloister.ctl.audit;

import org.jspecify.annotations.NullMarked;
