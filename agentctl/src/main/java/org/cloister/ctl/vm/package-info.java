/** {@code agentctl vm}: what a project's VMs tell of themselves and of jobs. */
@NullMarked
package org.cloister.ctl.vm;

import org.jspecify.annotations.NullMarked;
