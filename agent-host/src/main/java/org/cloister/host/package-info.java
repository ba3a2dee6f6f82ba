/** The configuration of agent-host. */
@NullMarked
package org.cloister.host;

import org.jspecify.annotations.NullMarked;
