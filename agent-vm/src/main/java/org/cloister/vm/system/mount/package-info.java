/** The VM's own programs, daemons and mounts, found again whatever became of the agent that began them. */
@NullMarked
package org.cloister.vm.system.mount;

import org.jspecify.annotations.NullMarked;
