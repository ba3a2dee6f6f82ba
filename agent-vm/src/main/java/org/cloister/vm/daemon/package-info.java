/** The main class of agent-vm and the role that its assignment gives it. */
@NullMarked
package org.cloister.vm.daemon;

import org.jspecify.annotations.NullMarked;
