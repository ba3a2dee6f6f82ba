/** {@code agentctl vm}: what a project's controlling VM tells its users. */
@NullMarked
package org.cloister.ctl.vm;

import org.jspecify.annotations.NullMarked;
