/** Metrics of agent-vm. */
@NullMarked
package org.cloister.vm.metrics;

import org.jspecify.annotations.NullMarked;
