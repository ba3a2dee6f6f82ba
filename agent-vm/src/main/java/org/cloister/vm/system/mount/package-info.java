/** Mounts, their holders, and unmounting. */
@NullMarked
package org.cloister.vm.system.mount;

import org.jspecify.annotations.NullMarked;
