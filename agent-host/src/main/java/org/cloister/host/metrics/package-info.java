/** Metrics and the HTTP endpoint of agent-host. */
@NullMarked
package org.cloister.host.metrics;

import org.jspecify.annotations.NullMarked;
