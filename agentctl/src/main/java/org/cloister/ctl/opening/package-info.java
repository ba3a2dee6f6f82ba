/** {@code agentctl project open} and {@code close}: a project's controlling VM, as its openers ask for it. */
@NullMarked
package org.cloister.ctl.opening;

import org.jspecify.annotations.NullMarked;
